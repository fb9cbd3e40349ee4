#include "text/sentence.h"

#include "base/buffer.h"
#include "text/label.h"
#include "text/latin.h"
#include "text/punctuation.h"
#include "text/script.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
    BRACKET_REACH = 200, /* characters within which a bracket must close to count as one */
    QUOTE_REACH = 60,    /* the same for a quotation in the midst of a sentence */
    CLAUSE_REACH = 16,   /* characters of the clause after a quotation that may name the speaker */
    HESITATION = 4 /* an ellipsis after no more than this is a hesitation: 这……怎么可能 */
};

/* The state of one pass over a text. */
typedef struct scanner {
    const char *text;
    size_t length;
    text_sentences *sentences;
    size_t line;    /* where the current line begins, after its blanks */
    size_t begin;   /* of the current sentence */
    size_t content; /* letters, digits and symbols in it so far */
    size_t clause;  /* those since its last comma or opening quotation mark */
    int32_t last;   /* the last visible character of it; 0 at its start */
    bool colon;     /* there is one in it */
    bool value;     /* and Han after the last of them */
    int item;       /* the place of the last list label on this line; 0: there was none */
    /* Direct speech that is open. It may go on over several sentences. */
    int32_t speech;       /* the mark that will close it, or 0 */
    bool single;          /* the sentence began with ', which is still open */
    bool speech_is_first; /* opened at the start of a sentence, not after 他说： */
} scanner;

/* A run of end marks with what belongs to them: closing quotes and brackets, [1]. */
typedef struct run {
    size_t begin, end;
    text_mark mark;        /* the strongest */
    text_latin_mark latin; /* the last Latin one, if `mark` is TEXT_MARK_LATIN */
    bool closed_speech;    /* a quotation mark was among them */
    bool speech_was_first;
} run;

static bool is_speech_verb(int32_t character)
{
    switch (character) {
    case 0x8BF4: /* 说 */
    case 0x8AAA: /* 說 */
    case 0x8AAC: /* 説 */
    case 0x9053: /* 道 */
    case 0x95EE: /* 问 */
    case 0x554F: /* 問 */
    case 0x558A: /* 喊 */
    case 0x53EB: /* 叫 */
    case 0x7B54: /* 答 */
    case 0x9A82: /* 骂 */
    case 0x7F75: /* 罵 */
    case 0x56B7: /* 嚷 */
    case 0x543C: /* 吼 */
    case 0x53F9: /* 叹 */
    case 0x5606: /* 嘆 */
    case 0x6B4E: /* 歎 */
    case 0x7B11: /* 笑 */
    case 0x60F3: /* 想 */
    case 0x8BB2: /* 讲 */
    case 0x8B1B: /* 講 */
    case 0x5600: /* 嘀, of 嘀咕 */
    case 0x56D4: /* 囔, of 嘟囔 */
    case 0x5490: /* 咐, of 吩咐 */
        return true;
    default:
        return false;
    }
}

/* Particles that make what precedes them a part of the sentence: “救命！”的喊声. */
static bool is_particle(int32_t character)
{
    return character == 0x7684 /* 的 */ || character == 0x5730 /* 地 */ ||
           character == 0x5F97 /* 得 */ || character == 0x4E4B /* 之 */;
}

/* Words that go on after an enumeration: 苹果、梨……等水果 */
static bool continues_enumeration(int32_t character)
{
    switch (character) {
    case 0x7B49: /* 等 */
    case 0x90FD: /* 都 */
    case 0x548C: /* 和 */
    case 0x4E0E: /* 与 */
    case 0x8207: /* 與 */
    case 0x53CA: /* 及 */
    case 0x6216: /* 或 */
        return true;
    default:
        return is_particle(character);
    }
}

/* The character at `at`, and its size; 0 and 0 at the end. */
static size_t peek(const scanner *s, size_t at, int32_t *character)
{
    *character = 0;
    return at < s->length ? text_decode(s->text + at, s->length - at, character) : 0;
}

/* Closes the current sentence at `end` and starts the next one there. */
static bool emit(scanner *s, size_t end)
{
    size_t begin = s->begin, stop = end;
    text_sentences *sentences = s->sentences;
    s->begin = end;
    s->content = 0;
    s->clause = 0;
    s->last = 0;
    s->colon = s->value = s->single = false;
    while (stop > begin) {
        int32_t character;
        size_t size = text_decode_before(s->text, begin, stop, &character);
        if (!text_is_blank(character))
            break;
        stop -= size;
    }
    if (begin == stop)
        return true;
    if (!base_grow((void **)&sentences->spans, &sentences->capacity, sentences->count + 1,
                   sizeof *sentences->spans))
        return false;
    sentences->spans[sentences->count++] = (zhen_span){begin, stop};
    return true;
}

/* The end of what was opened by `opener` just before `at`, after its closing mark, or 0 if that is
 * not found on the same line within `reach` characters. *ended: the last mark inside ends a
 * sentence. */
static size_t group_end(const scanner *s, size_t at, int32_t opener, int32_t closer, size_t reach,
                        bool *ended)
{
    size_t depth = 1;
    bool after_content = false; /* so that (a, b, ...) is no sentence */
    *ended = false;
    for (size_t seen = 0; seen < reach; seen++) {
        int32_t character;
        size_t size = peek(s, at, &character);
        if (!size || text_is_separator(character))
            return 0;
        at += size;
        if (character == closer && --depth == 0)
            return at;
        if (character == opener)
            depth++;
        text_mark mark = text_mark_of(character);
        *ended = mark == TEXT_MARK_STOP || (mark == TEXT_MARK_LATIN && after_content);
        after_content = text_is_content(character);
    }
    return 0;
}

/* The end of a footnote mark [12] at `at`, or `at`. */
static size_t skip_footnote(const scanner *s, size_t at)
{
    size_t end = at;
    if (end >= s->length || s->text[end] != '[')
        return at;
    end++;
    while (end < s->length && s->text[end] >= '0' && s->text[end] <= '9')
        end++;
    return end > at + 1 && end < s->length && s->text[end] == ']' ? end + 1 : at;
}

/* ASCII quotes open and close alike: " closes only if one is open, ' only before a blank or if the
 * sentence began with one, since it is an apostrophe more often. */
static bool is_closer_here(const scanner *s, size_t at, size_t size, int32_t character)
{
    if (character == '"')
        return s->speech == '"';
    if (character != '\'')
        return text_is_closer(character);
    int32_t next;
    return s->single || !peek(s, at + size, &next) || text_is_blank(next);
}

/* Reads one mark into the run; false if there is none at its end. */
static bool read_mark(const scanner *s, run *r)
{
    int32_t character, next;
    size_t size = peek(s, r->end, &character);
    text_mark mark = size ? text_mark_of(character) : TEXT_MARK_NONE;
    if (mark == TEXT_MARK_NONE || mark == TEXT_MARK_COMMA)
        return false;
    if (mark == TEXT_MARK_LATIN) {
        size_t dots = 0, end = r->end, dot;
        while ((dot = peek(s, end, &next)) && text_is_dot(next)) {
            end += dot;
            dots++;
        }
        text_latin_mark latin = {s->text, s->length, s->begin, r->end, character};
        if (dots > 1) {
            mark = TEXT_MARK_ELLIPSIS;
            size = end - r->end;
        } else if (text_latin_is_inside_word(&latin)) {
            return false;
        } else {
            r->latin = latin;
        }
    }
    if (r->mark == TEXT_MARK_NONE || mark < r->mark)
        r->mark = mark;
    r->end += size;
    return true;
}

/* Reads a closing mark or a footnote mark into the run; false if there is none. */
static bool read_attached(scanner *s, run *r)
{
    int32_t character;
    size_t size = peek(s, r->end, &character), footnote = skip_footnote(s, r->end);
    if (!size)
        return false;
    if (is_closer_here(s, r->end, size, character)) {
        if (character == s->speech || character == '"') {
            r->closed_speech = true;
            r->speech_was_first = s->speech_is_first;
            s->speech = 0;
        } else if (character == '\'' && s->single) {
            r->closed_speech = r->speech_was_first = true;
            s->single = false;
        }
        r->end += size;
        return true;
    }
    bool found = footnote > r->end;
    r->end = footnote;
    return found;
}

/* The end of the emoji at `at`. */
static size_t skip_emoji(const scanner *s, size_t at)
{
    int32_t character;
    size_t size;
    while ((size = peek(s, at, &character)) && text_is_emoji(character))
        at += size;
    return at;
}

/* Emoji belong to a run if more of it follows: 好！😀” */
static bool read_run(scanner *s, size_t at, run *r)
{
    *r = (run){.begin = at, .end = at};
    if (!read_mark(s, r))
        return false;
    size_t end;
    do {
        while (read_mark(s, r) || read_attached(s, r))
            ;
        end = r->end;
        r->end = skip_emoji(s, end);
    } while (r->end > end && (read_mark(s, r) || read_attached(s, r)));
    r->end = end;
    return true;
}

/* Whether the clause at `at` says who spoke: 他笑着说。 */
static bool is_attribution(const scanner *s, size_t at)
{
    for (size_t seen = 0; seen < CLAUSE_REACH; seen++) {
        int32_t character;
        size_t size = peek(s, at, &character);
        if (!size || text_is_separator(character) || text_mark_of(character) != TEXT_MARK_NONE ||
            text_closer_of(character))
            return false;
        if (is_speech_verb(character))
            return true;
        at += size;
    }
    return false;
}

/* A quotation has just ended with a sentence. It goes on if it was the start of one that tells who
 * said it or what it was: “你好。”他说。 “怎么办？”是个问题。 */
static bool continues_after_speech(const scanner *s, const run *r, size_t at, int32_t next)
{
    if (is_particle(next))
        return true;
    return r->speech_was_first && (next == 0x662F /* 是 */ || is_attribution(s, at));
}

/* An ellipsis at the end of a thought, not of a hesitation or an enumeration. */
static bool ellipsis_ends(const scanner *s, const run *r, int32_t next, bool blank)
{
    if (s->clause <= HESITATION || next == s->last || continues_enumeration(next))
        return false;
    if (next < 0x7F && !blank) /* ...text, ../path */
        return false;
    if (text_is_digit(s->last)) /* 2.71828... */
        return false;
    return r->closed_speech || !(next >= 'a' && next <= 'z');
}

/* Whether a Latin mark or ellipsis at `at` follows a blank, a comma or a sign, as in source code
 * and regular expressions: a ? b : c, .*?, && ... */
static bool is_code(const scanner *s, size_t at)
{
    char before = ' ';
    if (at > s->begin)
        before = s->text[at - 1];
    return text_mark_of(s->last) == TEXT_MARK_COMMA || strchr(" #$&(*+,/:<=>@[\\^`{|~-", before);
}

/* Whether the 。 at `at` ends a list label, typed for 1. at the start of a line. */
static bool is_label_stop(const scanner *s, size_t at)
{
    int32_t character;
    peek(s, at, &character);
    if (character != 0x3002 /* 。 */ || s->begin != s->line || at - s->begin > 2)
        return false;
    for (size_t i = s->begin; i < at; i++)
        if (s->text[i] < '0' || s->text[i] > '9')
            return false;
    return at > s->begin;
}

/* Whether the run of end marks ends the sentence. */
static bool run_ends(const scanner *s, const run *r)
{
    int32_t next;
    size_t at = r->end, size;
    while ((size = peek(s, at, &next)) && text_is_blank(next) && !text_is_separator(next))
        at += size;
    bool blank = at > r->end;
    if (!size || text_is_separator(next))
        return true;
    if (s->content == 0)
        return false;
    if (!blank && (text_mark_of(next) == TEXT_MARK_COMMA || text_is_closer(next)))
        return false;
    if (r->closed_speech && continues_after_speech(s, r, at, next))
        return false;
    if (r->mark != TEXT_MARK_STOP && is_code(s, r->begin))
        return false;
    if (!blank && is_label_stop(s, r->begin))
        return false;
    if (r->mark == TEXT_MARK_ELLIPSIS)
        return ellipsis_ends(s, r, next, blank);
    if (r->mark == TEXT_MARK_LATIN)
        return !text_latin_keeps_open(&r->latin, next, blank);
    return true;
}

/* Steps over a bracket that closes, or a quotation in the midst of a sentence, as over one word; of
 * direct speech only over its opening mark, since it is cut like other text. Returns false if
 * `character` at *at opens nothing. *ended: a sentence in brackets of its own has ended. */
static bool take_group(scanner *s, size_t *at, size_t size, int32_t character, bool *ended)
{
    bool first = s->last == 0;
    bool quote = character == '"' || text_is_speech_opener(character);
    int32_t closer = text_closer_of(character);
    *ended = false;
    if (character == '"' && s->speech != '"')
        closer = '"';
    if (!closer)
        return false;
    if (quote && (first || text_mark_of(s->last) == TEXT_MARK_COMMA)) {
        /* An inner quotation does not replace the outer one. */
        if (!s->speech || s->speech == closer) {
            s->speech = closer;
            s->speech_is_first = first;
        }
        *at += size;
        s->clause = 0;
        s->last = character;
        return true;
    }
    size_t end =
        group_end(s, *at + size, character, closer, quote ? QUOTE_REACH : BRACKET_REACH, ended);
    if (!end)
        return false;
    *ended = *ended && first && (character == '(' || character == 0xFF08);
    *at = end;
    s->content++;
    s->clause++;
    s->last = closer;
    return true;
}

/* Whether a list label at `at` follows the one before, or is the first of its list, so that the
 * sentence ends before it: 1.打开电源2.关闭电源, 步骤：1.打开电源, 首先，①打开电源 */
static bool starts_item(const scanner *s, size_t at, int32_t before)
{
    int place = text_item_place(s->text + at, s->length - at);
    bool circled = place >= TEXT_FIRST_CIRCLED;
    if (!circled && !text_is_han(before) && !text_is_blank(before) && !text_is_closer(before) &&
        text_mark_of(before) != TEXT_MARK_COMMA)
        return false;
    if (place == 0 || (!circled && text_is_dot(s->last))) /* A. B. Smith */
        return false;
    if (s->item && place == s->item + 1)
        return true;
    if (before == 0xFF0C /* ， */)
        return place == TEXT_FIRST_CIRCLED;
    return before == 0xFF1A /* ： */ && (place == TEXT_FIRST_NUMBER || place == TEXT_FIRST_LETTER ||
                                         place == TEXT_FIRST_CIRCLED);
}

/* Whether an item or a field stands at `at`, set off from what is before it by blanks: ○ 是　● 否,
 * 时间：三点　地点：北京. A single blank may as well stand between scripts: 无效 id 的条目：1 */
static bool starts_field(const scanner *s, size_t at, int32_t before)
{
    const char *text = s->text + at;
    size_t length = s->length - at;
    if (!text_is_blank(before))
        return false;
    if (text_begins_with_bullet(text, length))
        return true;
    size_t blank = text_decode_before(s->text, s->begin, at, &before);
    bool wide = before == 0x3000;
    text_decode_before(s->text, s->begin, at - blank, &before);
    wide = wide || text_is_blank(before);
    bool apart = wide || (s->clause > 0 && (s->last > 0x2000 || !s->value));
    return s->colon && apart && text_begins_field(text, length, !wide);
}

/* Whether nothing but emoji and other signs follows from `at` on: 你好😀. But 90°, C♯, and 二○○○. */
static bool starts_signs(const scanner *s, size_t at, int32_t before)
{
    const char *text = s->text + at;
    size_t length = s->length - at;
    if (text_is_sign(s->last) || text_is_latin(before) || text_is_digit(before))
        return false;
    if (!text_is_blank(before) && text_begins_with_bullet(text, length))
        return false;
    return text_is_signs(text, length);
}

/* The signs or the label at the start of a sentence, which stay as they are. */
static bool take_lead(scanner *s, size_t *at)
{
    size_t lead = text_lead_end(s->text + *at, s->length - *at);
    int place = text_item_place(s->text + *at, s->length - *at);
    if (place)
        s->item = place;
    *at += lead;
    return lead > 0;
}

/* Whether the sentence ends at *at for what follows there, or is only a lead, which is taken. */
static bool stands_apart(scanner *s, size_t *at, int32_t character)
{
    int32_t before;
    if (s->last == 0) {
        s->single = character == '\'';
        return take_lead(s, at);
    }
    text_decode_before(s->text, s->begin, *at, &before);
    return starts_item(s, *at, before) || starts_field(s, *at, before) ||
           starts_signs(s, *at, before);
}

/* Ends the sentence at a separator; what was open goes no further. */
static bool end_line(scanner *s, size_t *at, size_t size)
{
    bool done = emit(s, *at);
    *at += size;
    s->begin = s->line = *at;
    s->speech = 0;
    s->item = 0;
    return done;
}

static void skip_blank(scanner *s, size_t *at, size_t size)
{
    *at += size;
    if (s->last)
        return;
    if (s->line == s->begin)
        s->line = *at;
    s->begin = *at;
}

/* Reads what stands at *at and moves on. */
static bool scan_one(scanner *s, size_t *at)
{
    int32_t character;
    size_t size = peek(s, *at, &character);
    bool ended;
    run r;
    if (text_is_separator(character))
        return end_line(s, at, size);
    if (text_is_blank(character)) {
        skip_blank(s, at, size);
        return true;
    }
    if (stands_apart(s, at, character))
        return emit(s, *at);
    if (take_group(s, at, size, character, &ended))
        return !ended || emit(s, *at);
    if (read_run(s, *at, &r)) {
        bool ends = run_ends(s, &r);
        *at = r.end;
        s->last = character;
        return !ends || emit(s, *at);
    }
    if (character == s->speech)
        s->speech = 0;
    if (text_mark_of(character) == TEXT_MARK_COMMA)
        s->clause = 0;
    if (character == ':' || character == 0xFF1A /* ： */) {
        s->colon = true;
        s->value = false;
    }
    s->value = s->value || text_is_han(character);
    if (text_is_content(character)) {
        s->content++;
        s->clause++;
    }
    s->last = character;
    *at += size;
    return true;
}

bool text_split_sentences(const char *text, size_t length, text_sentences *sentences)
{
    scanner s = {.text = text, .length = length, .sentences = sentences};
    sentences->count = 0;
    for (size_t at = 0; at < length;)
        if (!scan_one(&s, &at))
            return false;
    return emit(&s, length);
}

void text_sentences_free(text_sentences *sentences)
{
    free(sentences->spans);
    *sentences = (text_sentences){0};
}
