#include "document/markdown_gap.h"

#include <stdint.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ---- Opening ------------------------------------------------------------------------------ */

static size_t run_before(const char *text, size_t begin, size_t end, char c, size_t most)
{
    size_t count = 0;
    while (count < most && end - count > begin && text[end - count - 1] == c)
        count++;
    return count;
}

/* Backticks, and blanks that belong to the span but not to its content. */
static size_t code_opening(const char *text, size_t begin, size_t end)
{
    while (end > begin && is_blank(text[end - 1]))
        end--;
    size_t ticks = run_before(text, begin, end, '`', SIZE_MAX);
    return ticks ? end - ticks : SIZE_MAX;
}

size_t doc_markdown_opening(const char *text, size_t begin, size_t end, MD_SPANTYPE type)
{
    if (type == MD_SPAN_CODE)
        return code_opening(text, begin, end);
    if (end <= begin)
        return SIZE_MAX;
    char last = text[end - 1];
    switch (type) {
    case MD_SPAN_EM:
        return last == '*' || last == '_' ? end - 1 : SIZE_MAX;
    case MD_SPAN_STRONG:
        if (last != '*' && last != '_')
            return SIZE_MAX;
        return run_before(text, begin, end, last, 2) == 2 ? end - 2 : SIZE_MAX;
    case MD_SPAN_DEL:
        return run_before(text, begin, end, '~', 2) == 2 ? end - 2 : SIZE_MAX;
    case MD_SPAN_A:
        return last == '[' || last == '<' ? end - 1 : SIZE_MAX;
    case MD_SPAN_IMG:
        return last == '[' && end - begin >= 2 && text[end - 2] == '!' ? end - 2 : SIZE_MAX;
    default:
        return SIZE_MAX;
    }
}

/* ---- Closing ------------------------------------------------------------------------------ */

/* From a quote or bracket to behind the one that closes it. */
static size_t skip_quoted(const char *text, size_t at, size_t end, char close)
{
    for (at++; at < end; at++) {
        if (text[at] == '\\')
            at++;
        else if (text[at] == close)
            return at + 1;
    }
    return SIZE_MAX;
}

/* (target "title"), with parentheses in the target balanced. */
static size_t skip_target(const char *text, size_t at, size_t end)
{
    size_t depth = 0;
    for (bool first = true; at < end; first = false) {
        char c = text[at];
        bool after_blank = is_blank(text[at - 1]);
        if (c == '\\') {
            at += 2;
        } else if ((c == '<' && text[at - 1] == '(') || (after_blank && (c == '"' || c == '\''))) {
            at = c == '<' ? skip_quoted(text, at, end, '>') : skip_quoted(text, at, end, c);
            if (at == SIZE_MAX)
                return SIZE_MAX;
        } else {
            depth += c == '(';
            if (c == ')' && --depth == 0)
                return at + 1;
            at++;
        }
        if (first && depth == 0)
            return SIZE_MAX;
    }
    return SIZE_MAX;
}

static size_t link_closing(const char *text, size_t begin, size_t end)
{
    if (text[begin] == '>')
        return begin + 1;
    if (text[begin] != ']')
        return SIZE_MAX;
    size_t at = begin + 1;
    if (at < end && text[at] == '(') {
        size_t close = skip_target(text, at, end);
        if (close != SIZE_MAX && close <= end)
            return close;
    } else if (at < end && text[at] == '[') {
        size_t close = skip_quoted(text, at, end, ']');
        if (close != SIZE_MAX && close <= end)
            return close;
    }
    return at;
}

size_t doc_markdown_closing(const char *text, size_t begin, size_t end, MD_SPANTYPE type)
{
    if (begin >= end)
        return SIZE_MAX;
    char c = text[begin];
    bool twice = end - begin >= 2 && text[begin + 1] == c;
    switch (type) {
    case MD_SPAN_EM:
        return c == '*' || c == '_' ? begin + 1 : SIZE_MAX;
    case MD_SPAN_STRONG:
        return (c == '*' || c == '_') && twice ? begin + 2 : SIZE_MAX;
    case MD_SPAN_DEL:
        return c == '~' && twice ? begin + 2 : SIZE_MAX;
    case MD_SPAN_A:
    case MD_SPAN_IMG:
        return link_closing(text, begin, end);
    default:
        return SIZE_MAX;
    }
}

/* A ] before a parenthesis may close a link whose target was not understood here. */
bool doc_markdown_is_unlabelled(const char *text, zhen_span closing, size_t limit)
{
    size_t length = closing.end - closing.begin;
    if (text[closing.begin] != ']')
        return false;
    if (length == 1)
        return closing.end == limit || text[closing.end] != '(';
    return length == 3 && text[closing.begin + 1] == '[';
}

const char *doc_markdown_label(base_arena *arena, const char *text, zhen_span label, size_t *length)
{
    size_t size = label.end - label.begin;
    char *closing = base_arena_allocate(arena, size + 4);
    if (!closing)
        return NULL;
    memcpy(closing, "][", 2);
    memcpy(closing + 2, text + label.begin, size);
    memcpy(closing + 2 + size, "]", 2);
    *length = size + 3;
    return closing;
}

/* ---- Code --------------------------------------------------------------------------------- */

size_t doc_markdown_code_end(const char *text, size_t begin, size_t end)
{
    size_t ticks = 0;
    while (begin + ticks < end && text[begin + ticks] == '`')
        ticks++;
    for (size_t at = begin + ticks; ticks && at < end;) {
        size_t run = 0;
        while (at + run < end && text[at + run] == '`')
            run++;
        if (run == ticks)
            return at + run;
        at += run ? run : 1;
    }
    return SIZE_MAX;
}

zhen_span doc_markdown_code(const char *text, zhen_span span)
{
    while (span.begin < span.end && text[span.begin] == '`')
        span.begin++;
    while (span.begin < span.end && text[span.end - 1] == '`')
        span.end--;
    while (span.begin < span.end && is_blank(text[span.begin]))
        span.begin++;
    while (span.begin < span.end && is_blank(text[span.end - 1]))
        span.end--;
    return span;
}
