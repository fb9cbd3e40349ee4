#include "document/protect.h"

#include "document/flow_internal.h"
#include "document/patterns.h"
#include "text/utf8.h"

#include <stdint.h>

typedef struct pattern {
    unsigned which;
    const char *first; /* ASCII characters that it can begin with; NULL: any character */
    doc_matcher match;
    /* LOOSE: a point with a blank before it; SET_OFF: between blanks; SPACED: a break, too; BULLET:
     * a break with a blank behind it. */
    enum { AS_WORD, AS_POINT, LOOSE, SET_OFF, AS_TAG, AS_BREAK, SPACED, BULLET } how;
} pattern;

static const pattern patterns[] = {
    {DOC_PROTECT_CODE, "`", doc_match_code, AS_WORD},
    {DOC_PROTECT_NOTES, "[", doc_match_note, AS_POINT},
    {DOC_PROTECT_NOTES, "$", doc_match_formula, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "%", doc_match_percent, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "{<[", doc_match_call, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "{$#%", doc_match_braces, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "$@", doc_match_message, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "$", doc_match_variable, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "&", doc_match_entity, AS_POINT},
    {DOC_PROTECT_PLACEHOLDERS, "<", doc_match_tag, AS_TAG},
    {DOC_PROTECT_PLACEHOLDERS, "\\", doc_match_backslash, AS_POINT},
    {DOC_PROTECT_ADDRESSES, "hfmsgw", doc_match_url, AS_WORD},
    {DOC_PROTECT_ADDRESSES, NULL, doc_match_email, AS_WORD},
    {DOC_PROTECT_ADDRESSES, NULL, doc_match_domain, AS_WORD},
    {DOC_PROTECT_ADDRESSES, NULL, doc_match_file, AS_WORD},
    {DOC_PROTECT_ADDRESSES, NULL, doc_match_quoted_file, AS_WORD},
    {DOC_PROTECT_ADDRESSES, "-", doc_match_option, AS_WORD},
    {DOC_PROTECT_ADDRESSES, "@", doc_match_mention, AS_WORD},
    {DOC_PROTECT_ADDRESSES, "#", doc_match_hashtag, SET_OFF},
    {DOC_PROTECT_CODE, ":", doc_match_role, AS_WORD},
    {DOC_PROTECT_SYMBOLS, ":", doc_match_shortcode, SET_OFF},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_face, SET_OFF},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_keys, AS_WORD},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_parting_arrow, SPACED},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_arrow, SET_OFF},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_box, AS_BREAK},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_chain, AS_WORD},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_signed, AS_WORD},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_relation, AS_WORD},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_value, AS_WORD},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_bullet, BULLET},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_symbol, SET_OFF},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_sign, AS_POINT},
    {DOC_PROTECT_SYMBOLS, NULL, doc_match_emoji, LOOSE},
    {DOC_PROTECT_SYMBOLS, ":;XT^->=oOQ", doc_match_smiley, SET_OFF},
    {DOC_PROTECT_PLACEHOLDERS, ":", doc_match_colon, AS_WORD},
    {DOC_PROTECT_ADDRESSES, NULL, doc_match_number, AS_WORD},
};

static size_t match_any(const char *text, size_t length, size_t at, unsigned which,
                        const pattern **matched)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const pattern *p = &patterns[i];
        if (!(p->which & which) || (p->first && !doc_is_one_of(text[at], p->first)))
            continue;
        size_t bytes = p->match(text, length, at);
        if (bytes) {
            *matched = p;
            return bytes;
        }
    }
    return 0;
}

static bool is_blank_entity(const char *text, size_t length)
{
    static const char *const blanks[] = {"&nbsp;", "&ensp;", "&emsp;", "&thinsp;",
                                         "&#160;", "&#xA0;", "&#xa0;", "&#12288;"};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (strlen(blanks[i]) == length && memcmp(blanks[i], text, length) == 0)
            return true;
    return false;
}

/* Tags of HTML that enclose nothing. */
static bool is_void(const char *name, size_t length)
{
    static const char *const names[] = {"img", "hr", "wbr", "input", "embed", "source"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return true;
    return false;
}

static void describe_tag(const char *text, doc_protected *found)
{
    size_t name = found->begin + 1;
    bool closes = text[name] == '/';
    name += closes;
    size_t end = doc_tag_name_end(text, found->end, name);
    found->flags = DOC_TAG;
    found->key = (zhen_span){name, end};
    found->kind = closes ? DOC_EVENT_CLOSE : DOC_EVENT_OPEN;
    if (end - name == 2 && memcmp(text + name, "br", 2) == 0)
        found->kind = DOC_EVENT_BREAK;
    else if (text[found->end - 2] == '/' || is_void(text + name, end - name))
        found->kind = DOC_EVENT_POINT;
}

static doc_protected describe(const char *text, size_t begin, size_t end, const pattern *matched)
{
    const unsigned gaps = DOC_GAP_BEFORE | DOC_GAP_AFTER;
    doc_protected found = {.begin = begin, .end = end, .kind = DOC_EVENT_POINT};
    switch (matched->how) {
    case AS_WORD:
        found.kind = DOC_EVENT_WORD;
        break;
    case AS_POINT:
        found.flags = is_blank_entity(text + begin, end - begin) ? DOC_BLANK : 0;
        break;
    case LOOSE:
        found.flags = DOC_LOOSE | gaps;
        break;
    case SET_OFF:
        found.flags = DOC_WORDLIKE | gaps;
        break;
    case AS_TAG:
        describe_tag(text, &found);
        break;
    case SPACED:
        found.kind = DOC_EVENT_BREAK;
        found.flags = gaps;
        break;
    case BULLET:
        found.kind = DOC_EVENT_BREAK;
        found.flags = DOC_GAP_AFTER;
        break;
    case AS_BREAK:
        found.kind = DOC_EVENT_BREAK;
        break;
    }
    return found;
}

bool doc_protect_next(const char *text, size_t length, size_t begin, unsigned which,
                      doc_protected *found)
{
    for (size_t at = begin; at < length;) {
        const pattern *matched = NULL;
        size_t bytes = match_any(text, length, at, which, &matched);
        if (bytes) {
            *found = describe(text, at, at + bytes, matched);
            return true;
        }
        int32_t character;
        at += text_decode(text + at, length - at, &character);
    }
    return false;
}
