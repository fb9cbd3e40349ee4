#include "document/patterns.h"

#include "text/script.h"
#include "text/utf8.h"

#include <stdint.h>

/* In bytes. */
enum { LONGEST_BRACES = 80, LONGEST_NAME = 64, LONGEST_CALL = 1024 };

/* ${姓名}, {{ 公司.名称 }}: only where a sign or a second brace says that a name is in them. */
static size_t match_named_braces(const char *text, size_t length, size_t at)
{
    bool twice = doc_starts_with(text, length, at, "{{");
    if (!twice && text[at] == '{')
        return 0;
    size_t begin = doc_skip_blanks(text, length, at + 2),
           end = begin + doc_match_name(text, length, begin);
    while (end > begin && doc_at_or_zero(text, length, end) == '.')
        end += 1 + doc_match_name(text, length, end + 1);
    if (end == begin || end - begin > LONGEST_NAME)
        return 0;
    end = doc_skip_blanks(text, length, end);
    const char *close = twice ? "}}" : "}";
    return end < length && doc_starts_with(text, length, end, close) ? end + strlen(close) - at : 0;
}

/* {name}, {0:>8}, {{ x }}, ${x}, #{x}, %{x} are not told apart by language: braces whose content is
 * short and has no Chinese, or is a name. */
size_t doc_match_braces(const char *text, size_t length, size_t at)
{
    size_t end = at;
    if (doc_is_one_of(text[end], "$#%") && doc_at_or_zero(text, length, end + 1) == '{')
        end++;
    if (text[end] != '{')
        return 0;
    size_t depth = 0, named = match_named_braces(text, length, at);
    if (named)
        return named;
    for (; end < length && end - at < LONGEST_BRACES; end++) {
        char c = text[end];
        if ((unsigned char)c < 0x20 || (unsigned char)c >= 0x7F)
            return 0;
        if (c == '{')
            depth++;
        else if (c == '}' && --depth == 0)
            return end + 1 - at;
    }
    return 0;
}

/* From `open` to `close`, on one line, whatever is between them. */
static size_t match_between(const char *text, size_t length, size_t at, const char *open,
                            const char *close)
{
    if (!doc_starts_with(text, length, at, open))
        return 0;
    for (size_t end = at + strlen(open); end < length && end - at < LONGEST_CALL; end++) {
        if (text[end] == '\n')
            return 0;
        if (doc_starts_with(text, length, end, close))
            return end + strlen(close) - at;
    }
    return 0;
}

/* What a template calls and does: {{< ref "a" >}} and {{% b %}} of Hugo, {% if c %} of Liquid and
 * Jinja, <%= d %> of ERB; [sound:e.mp3] of Anki. */
size_t doc_match_call(const char *text, size_t length, size_t at)
{
    static const char *const marks[][2] = {
        {"{{<", ">}}"}, {"{{%", "%}}"}, {"{%", "%}"}, {"<%", "%>"}, {"[sound:", "]"}};
    size_t bytes = 0;
    for (size_t i = 0; !bytes && i < sizeof marks / sizeof *marks; i++)
        bytes = match_between(text, length, at, marks[i][0], marks[i][1]);
    return bytes;
}

/* Messages that a message names: $t(key) of i18next, @:key and @.lower:key of Vue I18n. */
size_t doc_match_message(const char *text, size_t length, size_t at)
{
    size_t end = at + 1;
    if (doc_is_inside_word(text, at))
        return 0;
    if (text[at] == '@' && doc_at_or_zero(text, length, end) == '.')
        for (end++; doc_is_alpha(doc_at_or_zero(text, length, end));)
            end++;
    if (text[at] == '@' && doc_at_or_zero(text, length, end) == ':') {
        size_t begin = ++end;
        while (end < length && (doc_is_alnum(text[end]) || doc_is_one_of(text[end], "_.-")))
            end++;
        while (end > begin && text[end - 1] == '.')
            end--;
        return end > begin ? end - at : 0;
    }
    if (text[at] != '$')
        return 0;
    while (end - at < LONGEST_NAME && doc_is_alnum(doc_at_or_zero(text, length, end)))
        end++;
    if (end == at + 1 || doc_at_or_zero(text, length, end) != '(')
        return 0;
    for (size_t i = end; i < length && i - end < LONGEST_CALL; i++) {
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7F)
            return 0;
        if (text[i] == ')') /* $p(x)$ is a formula, of which no sign is left alone */
            return i + 1 + (doc_at_or_zero(text, length, i + 1) == '$') - at;
    }
    return 0;
}

/* Laravel's :name, not the name of 姓名:name: after Chinese only where Chinese follows. */
size_t doc_match_colon(const char *text, size_t length, size_t at)
{
    size_t end = at + 1;
    if (text[at] != ':' || !doc_is_alpha(doc_at_or_zero(text, length, end)))
        return 0;
    while (end < length && (doc_is_alnum(text[end]) || text[end] == '_'))
        end++;
    int32_t before = ' ', after = ' ';
    if (at > 0)
        text_decode_before(text, 0, at, &before);
    if (end < length)
        text_decode(text + end, length - end, &after);
    bool apart = text_is_blank(before) || (before >= 0x80 && !text_is_content(before));
    bool within = text_is_han(before) && text_is_han(after);
    bool marked = after == ':' || after == '=' || after == '(';
    return end - at > 2 && !marked && (apart || within) ? end - at : 0;
}

/* :rocket:, :+1:, an emoji's name; not the middle of 12:30:45. */
size_t doc_match_shortcode(const char *text, size_t length, size_t at)
{
    size_t end = at + 1, letters = 0;
    if (text[at] != ':' || (at > 0 && (doc_is_alnum(text[at - 1]) || text[at - 1] == ':')))
        return 0;
    while (end < length && end - at < LONGEST_NAME &&
           (doc_is_alnum(text[end]) || doc_is_one_of(text[end], "_+-")))
        letters += !doc_is_digit(text[end++]);
    bool ends = doc_at_or_zero(text, length, end) == ':';
    return ends && letters && end - at > 2 ? end + 1 - at : 0;
}

/* :ref:`name` of reStructuredText. */
size_t doc_match_role(const char *text, size_t length, size_t at)
{
    size_t role = doc_match_shortcode(text, length, at), code = at + role;
    if (!role || doc_at_or_zero(text, length, code) != '`')
        return 0;
    size_t bytes = doc_match_code(text, length, code);
    return bytes ? role + bytes : 0;
}

/* $name and $NAME; not $5. */
size_t doc_match_variable(const char *text, size_t length, size_t at)
{
    if (text[at] != '$' || doc_is_inside_word(text, at))
        return 0;
    size_t end = at + 1;
    if (end >= length || (!doc_is_alpha(text[end]) && text[end] != '_'))
        return 0;
    while (end < length && (doc_is_alnum(text[end]) || text[end] == '_'))
        end++;
    return end - at;
}
