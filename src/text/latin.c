#include "text/latin.h"

#include "text/punctuation.h"
#include "text/script.h"
#include "text/utf8.h"

#include <string.h>
#include <strings.h>

/* Words whose dot is no full stop, in lower case. Letters with dots between them (U.S., e.g., p.m.)
 * need no entry. */
static const char *const abbreviations[] = {
    "adm", "al",  "apr",  "approx", "assoc", "aug", "ave",  "blvd", "bros", "ca",  "capt", "cf",
    "co",  "col", "corp", "dec",    "dept",  "dr",  "ed",   "eds",  "est",  "etc", "feb",  "ft",
    "gen", "gov", "hon",  "inc",    "jan",   "jr",  "jul",  "jun",  "lt",   "ltd", "mar",  "max",
    "min", "mr",  "mrs",  "ms",     "mt",    "nov", "oct",  "ph",   "prof", "rd",  "rep",  "rev",
    "sen", "sep", "sept", "sgt",    "sr",    "st",  "univ", "vs",
};

/* These are abbreviations when a number follows. */
static const char *const numbered[] = {
    "art", "ch", "chap", "eq", "fig", "figs", "no", "nos", "p", "par", "pp", "sec", "tab", "vol",
};

static bool is_ascii_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_ascii_alnum(char c)
{
    return is_ascii_letter(c) || (c >= '0' && c <= '9');
}

static bool is_listed(const char *const *words, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0)
            return true;
    return false;
}

/* The start of the run of characters before `end` that `belongs` accepts. */
static size_t run_start(const char *text, size_t begin, size_t end, bool (*belongs)(int32_t))
{
    while (end > begin) {
        int32_t character;
        size_t size = text_decode_before(text, begin, end, &character);
        if (!belongs(character))
            break;
        end -= size;
    }
    return end;
}

static bool is_visible_ascii(int32_t character)
{
    return character > ' ' && character < 0x7F;
}

/* Whether the visible ASCII characters before `end` are a URL or an e-mail address. */
static bool is_address(const char *text, size_t begin, size_t end)
{
    size_t start = run_start(text, begin, end, is_visible_ascii), length = end - start;
    const char *token = text + start;
    return memmem(token, length, "://", 3) || memmem(token, length, "www.", 4) ||
           memchr(token, '@', length);
}

/* &amp; &#8230; — the semicolon stands at `end`. */
static bool is_entity(const char *text, size_t begin, size_t end)
{
    size_t at = end;
    while (at > begin && end - at < 10 && (is_ascii_alnum(text[at - 1]) || text[at - 1] == '#'))
        at--;
    return at > begin && at < end && text[at - 1] == '&';
}

/* Whether a visible ASCII character stands directly before the mark. */
static bool follows_ascii(const text_latin_mark *mark)
{
    return mark->at > mark->begin && is_visible_ascii(mark->text[mark->at - 1]);
}

bool text_latin_is_inside_word(const text_latin_mark *mark)
{
    int32_t next;
    size_t size = text_decode(mark->text + mark->at, mark->length - mark->at, &next);
    size_t after = mark->at + size;
    if (mark->character == ';' && is_entity(mark->text, mark->begin, mark->at))
        return true;
    if (after == mark->length)
        return false;
    text_decode(mark->text + after, mark->length - after, &next);
    if (text_is_latin(next) || text_is_digit(next))
        return text_is_dot(mark->character) || follows_ascii(mark);
    /* page.html?#top, a=?&b, ./configure: signs that words are made of, on both sides. */
    return follows_ascii(mark) && is_visible_ascii(next) && strchr("#$%&+/=@\\^`|", next);
}

/* 1. or ２． or IV. at the start of a sentence labels a list item. */
static bool is_list_label(const char *text, size_t begin, size_t end)
{
    if (run_start(text, begin, end, text_is_digit) == begin)
        return true;
    return end - begin <= 4 && strspn(text + begin, "IVX") >= end - begin;
}

/* A letter by itself, or letters with dots between them: J. in J. Smith, U.S., e.g. */
static bool is_initial(const char *text, size_t begin, size_t end)
{
    int32_t character;
    end -= text_decode_before(text, begin, end, &character);
    if (!text_is_latin(character))
        return false;
    if (end == begin)
        return true;
    text_decode_before(text, begin, end, &character);
    return !text_is_latin(character) && !text_is_digit(character);
}

static bool dot_keeps_open(const text_latin_mark *mark, int32_t next, bool blank)
{
    const char *text = mark->text;
    size_t begin = mark->begin, end = mark->at;
    if (is_list_label(text, begin, end))
        return true;
    size_t start = run_start(text, begin, end, text_is_latin);
    if (start == end)
        return false;
    if (is_initial(text, begin, end))
        return true;
    const char *word = text + start;
    size_t length = end - start;
    if (is_listed(abbreviations, sizeof abbreviations / sizeof *abbreviations, word, length))
        return true;
    if (is_listed(numbered, sizeof numbered / sizeof *numbered, word, length))
        return text_is_digit(next);
    return !blank && is_address(text, begin, end);
}

bool text_latin_keeps_open(const text_latin_mark *mark, int32_t next, bool blank)
{
    if (blank && next >= 'a' && next <= 'z')
        return true;
    if (!blank && next < 0x2E80 && !text_is_speech_opener(next) && follows_ascii(mark))
        return true;
    if (text_is_dot(mark->character))
        return dot_keeps_open(mark, next, blank);
    if (blank)
        return false;
    /* A name, not an exclamation: 雅虎 is called Yahoo!奇摩 in Taiwan. */
    if (mark->at - mark->begin >= 5 && memcmp(mark->text + mark->at - 5, "Yahoo", 5) == 0)
        return true;
    return is_address(mark->text, mark->begin, mark->at);
}
