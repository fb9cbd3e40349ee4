#include "document/patterns.h"

#include "text/punctuation.h"
#include "text/script.h"
#include "text/utf8.h"

#include <stdint.h>

/* ♭ ♮ ♯, which belong to the letter before them. */
static bool is_accidental(int32_t c)
{
    return c >= 0x266D && c <= 0x266F;
}

/* ★ ☆ */
static bool is_star(int32_t c)
{
    return c == 0x2605 || c == 0x2606;
}

/* Emoji blocks of the Unicode standard that hold no text. */
static bool is_emoji(int32_t c)
{
    if (is_accidental(c) || (c >= 0x2776 && c <= 0x2793 /* ❶, a number */))
        return false;
    return (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) ||
           (c >= 0x2B00 && c <= 0x2BFF) || c == 0x231A || c == 0x231B || c == 0x2328 ||
           c == 0x23CF || (c >= 0x23E9 && c <= 0x23F3);
}

/* What may follow inside one emoji: joiners, variation selectors, skin tones, tags, keycaps. */
static bool continues_emoji(int32_t c)
{
    return c == 0x200D || c == 0xFE0F || c == 0xFE0E || c == 0x20E3 ||
           (c >= 0xE0020 && c <= 0xE007F) || is_emoji(c);
}

size_t doc_match_emoji(const char *text, size_t length, size_t at)
{
    int32_t character;
    size_t end = at + text_decode(text + at, length - at, &character);
    if (!is_emoji(character))
        return 0;
    while (end < length) {
        size_t bytes = text_decode(text + end, length - end, &character);
        if (!continues_emoji(character))
            break;
        end += bytes;
    }
    return end - at;
}

/* In UTF-8 the symbols of the blocks below are three bytes, of which the first is E2 or E3. */
enum { SYMBOL_BYTES = 3 };

/* The character at `at` if it may be one of them, else 0. */
static int32_t symbol_at(const char *text, size_t length, size_t at)
{
    int32_t character = 0;
    if (at < length && (text[at] & 0xFE) == 0xE2)
        text_decode(text + at, length - at, &character);
    return character;
}

/* Signs on the keys of a keyboard. */
static bool is_key(int32_t c)
{
    static const int32_t keys[] = {0x2318, 0x2325, 0x2303, 0x21E7, 0x21EA, 0x21E5, 0x21E4,
                                   0x21A9, 0x21B5, 0x23CE, 0x232B, 0x2326, 0x238B};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (c == keys[i])
            return true;
    return false;
}

/* ⇧⌘P. */
size_t doc_match_keys(const char *text, size_t length, size_t at)
{
    size_t end = at;
    while (is_key(symbol_at(text, length, end)))
        end += SYMBOL_BYTES;
    while (end > at && end < length && doc_is_alnum(text[end]))
        end++;
    return end - at;
}

/* Arrows that lead from one thing to another; ↑ and ↓ say more and less. */
static bool is_arrow(int32_t c)
{
    bool vertical = c == 0x2191 || c == 0x2193 || c == 0x2195 || c == 0x21D1 || c == 0x21D3;
    return (c >= 0x2190 && c <= 0x21FF && !vertical && !is_key(c)) || c == 0x2794 ||
           (c >= 0x2798 && c <= 0x27BE) || (c >= 0x27F0 && c <= 0x27FF) ||
           (c >= 0x2900 && c <= 0x297F) || c == 0x2B05 || c == 0x2B95;
}

static bool is_box(int32_t c)
{
    return c >= 0x2500 && c <= 0x257F;
}

/* Geometric shapes, ※ and the postal mark 〓: they stand before the items of lists. */
static bool is_shape(int32_t c)
{
    return (c >= 0x25A0 && c <= 0x25FF) || c == 0x203B || c == 0x3013;
}

/* Arrows side by side: ←→. */
size_t doc_match_arrow(const char *text, size_t length, size_t at)
{
    size_t end = at;
    while (is_arrow(symbol_at(text, length, end)))
        end += SYMBOL_BYTES;
    int32_t c = 0;
    if (end > at && end < length)
        text_decode(text + end, length - end, &c);
    if (c == 0xFE0E || c == 0xFE0F)
        end += 3; /* how it is shown: as text, as an emoji */
    return end - at;
}

/* What arrows lead from and to are labels up to this many characters, words and numbers in Latin
 * counted as one; more bytes than these are not looked at. */
enum { LONGEST_LABEL = 10, LABELS_REACH = 256 };

typedef enum label_step { LABEL_GOES_ON, LABEL_ENDS, NO_LABEL } label_step;

/* The labels on one side of an arrow, read outwards. */
typedef struct labels {
    bool to_the_left, any;
    size_t characters; /* of the last one */
    bool word;         /* the last character is Latin or a digit */
} labels;

/* Sentences have marks, labels have none: but one may stand behind 路径：. */
static label_step read_label(labels *l, int32_t c)
{
    bool latin = c < 0x80 && doc_is_alnum((char)c);
    if (text_is_blank(c)) {
        l->word = false;
        return LABEL_GOES_ON;
    }
    if (l->to_the_left && (c == ':' || c == 0xFF1A))
        return LABEL_ENDS;
    if (c != '.' && text_mark_of(c) != TEXT_MARK_NONE)
        return NO_LABEL;
    l->characters += !(latin && l->word);
    l->characters = is_arrow(c) ? 0 : l->characters;
    l->any = l->any || l->characters;
    l->word = latin;
    return l->characters > LONGEST_LABEL || !l->any ? NO_LABEL : LABEL_GOES_ON;
}

static bool leads_from_labels(const char *text, size_t at)
{
    labels l = {.to_the_left = true};
    size_t floor = at > LABELS_REACH ? at - LABELS_REACH : 0;
    label_step step = LABEL_GOES_ON;
    while (at > floor && step == LABEL_GOES_ON) {
        int32_t c;
        at -= text_decode_before(text, 0, at, &c);
        step = read_label(&l, c);
    }
    return l.any && step != NO_LABEL;
}

static bool leads_to_labels(const char *text, size_t length, size_t at)
{
    labels l = {.to_the_left = false};
    size_t end = length - at > LABELS_REACH ? at + LABELS_REACH : length;
    label_step step = LABEL_GOES_ON;
    while (at < end && step == LABEL_GOES_ON) {
        int32_t c;
        at += text_decode(text + at, length - at, &c);
        step = read_label(&l, c);
    }
    return l.any && step != NO_LABEL;
}

/* 【设置】→【网络】: whatever is said beside them. */
static bool joins_brackets(const char *text, size_t length, size_t at, size_t end)
{
    int32_t before, after;
    if (at == 0 || end == length)
        return false;
    text_decode_before(text, 0, at, &before);
    text_decode(text + end, length - end, &after);
    return before > 0x7F && after > 0x7F && text_is_closer(before) && text_closer_of(after);
}

/* 文件→打印: what such arrows part is translated apart. In a sentence (按→键前进。) they are a
 * word.
 */
size_t doc_match_parting_arrow(const char *text, size_t length, size_t at)
{
    size_t bytes = doc_match_arrow(text, length, at), end = at + bytes;
    bool names_a_key = at >= strlen("按") && doc_starts_with(text, length, at - strlen("按"), "按");
    if (bytes == 0 || is_arrow(symbol_at(text, length, at + SYMBOL_BYTES)))
        return 0;
    bool parts =
        joins_brackets(text, length, at, end) ||
        (!names_a_key && leads_from_labels(text, at) && leads_to_labels(text, length, end));
    return parts ? bytes : 0;
}

/* Lines of boxes, from which tables and trees are drawn: │ 名称 │ and ├── 目录. A line alone (──)
 * is a dash. */
size_t doc_match_box(const char *text, size_t length, size_t at)
{
    size_t end = at;
    bool corner = false;
    int32_t c;
    if (at >= SYMBOL_BYTES && is_box(symbol_at(text, length, at - SYMBOL_BYTES)))
        return 0; /* inside of one that is a dash */
    for (; c = symbol_at(text, length, end), is_box(c); end += SYMBOL_BYTES)
        corner = corner || c > 0x2501;
    return corner ? end - at : 0;
}

/* A shape behind a blank: the next item of a list in one line. ○○公司 is a name left out. */
size_t doc_match_bullet(const char *text, size_t length, size_t at)
{
    int32_t before;
    if (at == 0 || !is_shape(symbol_at(text, length, at)) ||
        is_shape(symbol_at(text, length, at + SYMBOL_BYTES)))
        return 0;
    text_decode_before(text, 0, at, &before);
    return text_is_blank(before) ? SYMBOL_BYTES : 0;
}

/* Arrows, operators, technical signs, shapes: a model reads them as bytes. Not the minus, the ratio
 * and the ellipsis, which are text, nor the circle that stands for a zero (二○○八年). */
static bool is_symbol(int32_t c)
{
    static const int32_t text[] = {0x2212, 0x2236, 0x22EF, 0x2329, 0x232A, 0x25CB};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (c == text[i])
            return false;
    return (c >= 0x2190 && c <= 0x23FF) || (c >= 0x2580 && c <= 0x259F) ||
           (c >= 0x27C0 && c <= 0x2AFF) || is_shape(c);
}

/* The end of the number or the Latin word at `at`: 5.2%, r². */
static size_t operand_end(const char *text, size_t length, size_t at)
{
    static const char *const endings[] = {"%", "²", "³"};
    size_t end = at;
    while (end < length &&
           (doc_is_alnum(text[end]) || (end > at && doc_is_one_of(text[end], ".,") &&
                                        doc_is_digit(doc_at_or_zero(text, length, end + 1)))))
        end++;
    for (size_t i = 0; end > at && end < length && i < sizeof endings / sizeof *endings; i++)
        if (doc_starts_with(text, length, end, endings[i]))
            return end + strlen(endings[i]);
    return end;
}

/* ≥30, ↑5.2%, △ABC: an operator with what it stands before. Not ≥30万, which is written otherwise
 * in English. */
size_t doc_match_relation(const char *text, size_t length, size_t at)
{
    int32_t c = symbol_at(text, length, at);
    bool relates =
        (c >= 0x2200 && c <= 0x22FF) || c == 0x2191 || c == 0x2193 || c == 0x25B3 /* △ */;
    if (!relates || !is_symbol(c))
        return 0;
    size_t begin = at + SYMBOL_BYTES, end = operand_end(text, length, begin);
    return end > begin && !doc_is_counted(text, length, end) ? end - at : 0;
}

/* Whether an operand or a chain of them goes on to the left of `at`: each is read once. */
static bool is_inside_operand(const char *text, size_t at)
{
    return doc_is_inside_word(text, at) ||
           (at > 1 && doc_is_one_of(text[at - 1], "+.,") && doc_is_alnum(text[at - 2]));
}

/* H2+O2→H2O, A→B→C: without any Chinese they are one word. */
size_t doc_match_chain(const char *text, size_t length, size_t at)
{
    size_t end = at, arrows = 0, last = at; /* last: the end of the last operand */
    if (!doc_is_alnum(text[at]) || is_inside_operand(text, at))
        return 0;
    while (end - at <= LABELS_REACH) {
        size_t begin = end;
        end = operand_end(text, length, begin);
        if (end == begin)
            break;
        last = end;
        size_t arrow = doc_match_arrow(text, length, end);
        end += arrow ? arrow : doc_at_or_zero(text, length, end) == '+';
        arrows += arrow > 0;
        if (end == last)
            break;
    }
    bool leads_on = arrows > 0 && end == last && end - at <= LABELS_REACH;
    return leads_on && !doc_is_counted(text, length, end) ? end - at : 0;
}

/* C♯, A♭, 5★: a sign that touches a letter or a number. */
size_t doc_match_signed(const char *text, size_t length, size_t at)
{
    if (!doc_is_alnum(text[at]) || is_inside_operand(text, at))
        return 0;
    size_t end = operand_end(text, length, at), signs = end;
    for (int32_t c; c = symbol_at(text, length, signs), is_accidental(c) || is_star(c);)
        signs += SYMBOL_BYTES;
    if (signs == end)
        return 0;
    while (signs < length && doc_is_alnum(text[signs]))
        signs++;
    return signs - at;
}

size_t doc_match_symbol(const char *text, size_t length, size_t at)
{
    size_t end = at;
    for (int32_t c; c = symbol_at(text, length, end), is_symbol(c) && !is_emoji(c);)
        end += SYMBOL_BYTES;
    return end - at;
}

/* The bytes of the Greek letter at `at`, or of the signs for micro and ohm; 0: it is none. */
static size_t greek_bytes(const char *text, size_t length, size_t at)
{
    int32_t c = 0;
    size_t bytes = at < length ? text_decode(text + at, length - at, &c) : 0;
    return (c >= 0x0391 && c <= 0x03C9) || c == 0xB5 || c == 0x2126 ? bytes : 0;
}

/* Longer ones are no values. */
enum { LONGEST_VALUE = 64 };

/* The = at `at` if a letter or a number follows it. */
static size_t equals_bytes(const char *text, size_t length, size_t at)
{
    size_t next = at + 1;
    bool goes_on = doc_at_or_zero(text, length, at) == '=' &&
                   (greek_bytes(text, length, next) || operand_end(text, length, next) > next);
    return goes_on ? 1 : 0;
}

/* λ=500nm, 50Ω, Δx, α: Greek letters, which a model need not know, with the Latin ones, the number
 * or the = that they touch. */
size_t doc_match_value(const char *text, size_t length, size_t at)
{
    bool greek = false;
    size_t end = at;
    if (is_inside_operand(text, at))
        return 0;
    while (end < length && end - at <= LONGEST_VALUE) {
        size_t letter = greek_bytes(text, length, end);
        size_t operand = operand_end(text, length, end) - end;
        size_t equals = end > at ? equals_bytes(text, length, end) : 0;
        if (letter + operand + equals == 0)
            break;
        greek = greek || letter;
        end += letter + operand + equals; /* one of them */
    }
    return greek && end - at <= LONGEST_VALUE && !doc_is_counted(text, length, end) ? end - at : 0;
}

/* Marks of notes and of tones, which touch the word before them. */
size_t doc_match_sign(const char *text, size_t length, size_t at)
{
    static const char *const signs[] = {"¶", "‖", "†", "‡", "♭", "♮", "♯"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (doc_starts_with(text, length, at, signs[i]))
            return strlen(signs[i]);
    return 0;
}
