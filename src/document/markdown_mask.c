#include "document/markdown_mask.h"

#include "document/patterns.h"
#include "document/protect.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lines -------------------------------------------------------------------------------- */

/* A line of the copy that becomes the mask. */
typedef struct line {
    char *text; /* behind blanks and quotation marks, to the last character that is no blank */
    size_t length;
    bool quoted; /* a > comes before it */
    char *next;
} line;

static line read_line(char *text, const char *end)
{
    char *stop = memchr(text, '\n', (size_t)(end - text));
    line l = {.text = text, .next = stop ? stop + 1 : text + (end - text)};
    stop = stop ? stop : l.next;
    for (; l.text < stop && (doc_is_blank(*l.text) || *l.text == '>'); l.text++)
        l.quoted = l.quoted || *l.text == '>';
    while (stop > l.text && doc_is_blank(stop[-1]))
        stop--;
    l.length = (size_t)(stop - l.text);
    return l;
}

static bool begins_with(const line *l, const char *prefix)
{
    return doc_starts_with(l->text, l->length, 0, prefix);
}

static bool ends_with(const line *l, const char *ending)
{
    size_t size = strlen(ending);
    return l->length >= size && memcmp(l->text + l->length - size, ending, size) == 0;
}

/* How many of the line's characters from `at` on are of `set`. */
static size_t count(const line *l, size_t at, const char *set)
{
    size_t begin = at;
    while (at < l->length && doc_is_one_of(l->text[at], set))
        at++;
    return at - begin;
}

static size_t count_name(const line *l, size_t at)
{
    size_t begin = at;
    while (at < l->length && (doc_is_alnum(l->text[at]) || doc_is_one_of(l->text[at], "-_")))
        at++;
    return at - begin;
}

static void hide(const line *l, size_t begin, size_t end)
{
    memset(l->text + begin, ' ', end - begin);
}

/* ---- Blocks of extensions ------------------------------------------------------------------- */

/* > [!NOTE] and > [!tip]- title, GitHub's and Obsidian's: a heading, which is the title's, or
 * empty. */
static bool mask_alert(const line *l)
{
    if (!l->quoted || !begins_with(l, "[!"))
        return false;
    size_t end = 2 + count_name(l, 2);
    if (end == 2 || end >= l->length || l->text[end] != ']')
        return false;
    hide(l, 0, end + 1 + count(l, end + 1, "+-"));
    l->text[0] = '#';
    return true;
}

/* ::: tip title, :::note[title], and ::: at the end (VuePress, VitePress, Docusaurus): a heading
 * as well. Attributes, ::: {.note}, stay. */
static bool mask_container(const line *l)
{
    size_t colons = count(l, 0, ":"), name = colons + count(l, colons, " \t");
    size_t end = name + count_name(l, name), close = l->length;
    if (colons < 3)
        return false;
    if (end == name)
        end = close;
    if (end < close && l->text[end] == '[' && l->text[close - 1] == ']') {
        end++;
        hide(l, close - 1, close);
    }
    hide(l, 0, end);
    l->text[0] = '#';
    return true;
}

/* !!! note "title", ??? note and === "title" (Python-Markdown, MkDocs), the text below indented:
 * an item of a list that begins with a heading, for else that text would be code. */
static bool mask_admonition(const line *l)
{
    bool tab = begins_with(l, "=== ");
    if (!tab && !begins_with(l, "!!! ") && !begins_with(l, "??? ") && !begins_with(l, "???+ "))
        return false;
    size_t title = 4;
    while (!tab && title < l->length &&
           (doc_is_alnum(l->text[title]) || doc_is_one_of(l->text[title], " -_")))
        title++;
    title += count(l, title, " ");
    bool titled = title + 2 <= l->length && l->text[title] == '"' && ends_with(l, "\"");
    if (!titled && (tab || title < l->length))
        return false;
    hide(l, 0, titled ? title + 1 : title);
    if (titled)
        hide(l, l->length - 1, l->length);
    memcpy(l->text, "- #", 3);
    return true;
}

/* Whether the line is one tag from `open` to `close`. */
static bool is_tag(const line *l, const char *open, const char *close)
{
    if (!begins_with(l, open) || !ends_with(l, close))
        return false;
    const char *end = memmem(l->text, l->length, close, strlen(close));
    return end == l->text + l->length - strlen(close);
}

/* A tag of Jekyll, Hugo or GitBook that has a line for itself: an empty line. */
static bool mask_template(const line *l)
{
    if (!is_tag(l, "{%", "%}") && !is_tag(l, "{{<", ">}}") && !is_tag(l, "{{%", "%}}"))
        return false;
    hide(l, 0, l->length);
    return true;
}

/* A formula between two lines $$, or in a line of its own: empty lines. Returns where the next line
 * begins; NULL if there is no formula here. */
static char *mask_formula(const line *first, const char *end)
{
    if (!begins_with(first, "$$"))
        return NULL;
    if (first->length > 4 && ends_with(first, "$$")) {
        hide(first, 0, first->length);
        return first->next;
    }
    line last = *first;
    do {
        if (last.next == end || first->length > 2)
            return NULL;
        last = read_line(last.next, end);
        if (last.length == 0 || begins_with(&last, "```") || begins_with(&last, "~~~"))
            return NULL;
    } while (last.length != 2 || !begins_with(&last, "$$"));
    for (line l = *first;; l = read_line(l.next, end)) {
        hide(&l, 0, l.length);
        if (l.next == last.next)
            return l.next;
    }
}

/* Whether the line is a heading, by # before it or by a line below it. */
static bool is_heading(const line *l, const char *end)
{
    size_t marks = count(l, 0, "#");
    if (marks > 0)
        return marks <= 6;
    if (l->next == end)
        return false;
    line below = read_line(l->next, end);
    return below.length > 0 &&
           (count(&below, 0, "=") == below.length || count(&below, 0, "-") == below.length);
}

/* {#name .class} at the end of a heading: blanks. */
static void mask_attributes(const line *l, const char *end)
{
    if (!ends_with(l, "}") || !is_heading(l, end))
        return;
    size_t begin = l->length - 1;
    while (begin > 0 && !doc_is_one_of(l->text[begin], "{\\"))
        begin--;
    if (l->text[begin] == '{' && doc_is_one_of(l->text[begin + 1], "#.:") &&
        (begin == 0 || !doc_is_one_of(l->text[begin - 1], "{$\\")))
        hide(l, begin, l->length);
}

static void mask_lines(char *text, const char *end)
{
    while (text < end) {
        line l = read_line(text, end);
        char *next = mask_formula(&l, end);
        text = next ? next : l.next;
        if (!next && !mask_alert(&l) && !mask_container(&l) && !mask_admonition(&l))
            mask_template(&l);
        if (!next)
            mask_attributes(&l, end);
    }
}

/* ---- Notes and formulas --------------------------------------------------------------------- */

/* Whether only blanks and quotation marks stand before `at` in its line. */
static bool begins_line(const char *text, size_t at)
{
    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '>'))
        at--;
    return at == 0 || text[at - 1] == '\n';
}

/* Letters in their place keep md4c from seeing emphasis in $a_1 + b_1$ and a link in [^1]. What
 * defines a footnote ([^1]: text) is shown to it as a heading, for it may stand right before
 * another definition. */
static void mask_notes(char *text, size_t length)
{
    doc_protected found;
    for (size_t at = 0; doc_protect_next(text, length, at, DOC_PROTECT_NOTES, &found);
         at = found.end) {
        bool defines = text[found.end - 1] == ':' && begins_line(text, found.begin);
        memset(text + found.begin, defines ? ' ' : 'x', found.end - found.begin);
        if (defines)
            text[found.begin] = '#';
    }
}

/* A tilde alone is no strikethrough, though md4c takes it for one: 5~10 is a range. */
static bool is_lone_tilde(const char *text, size_t length, size_t at)
{
    return text[at] == '~' && doc_at_or_zero(text, length, at + 1) != '~' &&
           (at == 0 || !doc_is_one_of(text[at - 1], "~\\"));
}

/* The asterisk of *.md, also behind a slash, stands for the name of a file. */
static bool is_file(const char *text, size_t length, size_t at)
{
    char next = doc_at_or_zero(text, length, at + 1);
    char letter = doc_at_or_zero(text, length, at + 2);
    return text[at] == '*' && next == '.' && (doc_is_alnum(letter) || letter == '{') &&
           (at == 0 || doc_is_one_of(text[at - 1], " \t\n/|,;(\"'"));
}

static void mask_literals(char *text, size_t length)
{
    for (size_t at = 0; at < length; at++)
        if (is_lone_tilde(text, length, at) || is_file(text, length, at))
            text[at] = 'x';
}

char *doc_markdown_mask(const char *text, size_t length)
{
    char *mask = malloc(length + 1);
    if (!mask)
        return NULL;
    memcpy(mask, text, length);
    mask[length] = '\0';
    mask_lines(mask, mask + length);
    mask_notes(mask, length);
    mask_literals(mask, length);
    return mask;
}
