#include "document/frames.h"

#include "document/patterns.h"

#include <stdlib.h>

/* In bytes: an argument's name, a branch's. */
enum { LONGEST_NAME = 64 };

typedef struct finding {
    const char *text;
    size_t length;
    size_t *closes; /* of each {: where its } is; 0: nowhere */
    doc_frames *frames;
} finding;

/* ---- Braces --------------------------------------------------------------------------------- */

/* Finds what closes each brace. Open ones are chained through `closes` itself. */
static void pair_braces(finding *f)
{
    size_t open = SIZE_MAX;
    for (size_t at = 0; at < f->length; at++) {
        if (f->text[at] == '{') {
            f->closes[at] = open;
            open = at;
        } else if (f->text[at] == '}' && open != SIZE_MAX) {
            size_t outer = f->closes[open];
            f->closes[open] = at;
            open = outer;
        }
    }
    while (open != SIZE_MAX) {
        size_t outer = f->closes[open];
        f->closes[open] = 0;
        open = outer;
    }
}

static bool add(finding *f, size_t begin, size_t end, doc_event_kind kind)
{
    doc_frames *frames = f->frames;
    if (!base_grow((void **)&frames->items, &frames->capacity, frames->count + 1,
                   sizeof *frames->items))
        return false;
    frames->items[frames->count++] = (doc_frame){.place = {begin, end}, .kind = kind};
    return true;
}

static int by_place(const void *a, const void *b)
{
    size_t x = ((const doc_frame *)a)->place.begin, y = ((const doc_frame *)b)->place.begin;
    return x < y ? -1 : x > y;
}

/* ---- ICU ------------------------------------------------------------------------------------ */

static size_t skip_space(const finding *f, size_t at)
{
    while (at < f->length && doc_is_one_of(f->text[at], " \t\r\n"))
        at++;
    return at;
}

/* The end of an argument's or a branch's name: =0, other, user.name. */
static size_t name_end(const finding *f, size_t at)
{
    size_t end = at;
    while (end < f->length && end - at < LONGEST_NAME && (unsigned char)f->text[end] > ' ' &&
           !doc_is_one_of(f->text[end], "{},#"))
        end++;
    return end;
}

/* The comma after a name, with blanks around it; 0 if there is none. */
static size_t comma_end(const finding *f, size_t at)
{
    at = skip_space(f, at);
    return doc_at_or_zero(f->text, f->length, at) == ',' ? skip_space(f, at + 1) : 0;
}

static bool is_name(const finding *f, size_t at, size_t end, const char *name)
{
    return strlen(name) == end - at && memcmp(f->text + at, name, end - at) == 0;
}

/* The first branch's name of the message that opens at `at`, 0 if it is none. */
static size_t first_branch(const finding *f, size_t at, bool *plural)
{
    size_t name = skip_space(f, at + 1), end = name_end(f, name);
    size_t type = end > name ? comma_end(f, end) : 0;
    if (!type)
        return 0;
    end = name_end(f, type);
    *plural = is_name(f, type, end, "plural") || is_name(f, type, end, "selectordinal");
    if (!*plural && !is_name(f, type, end, "select"))
        return 0;
    size_t branch = comma_end(f, end);
    if (branch && doc_starts_with(f->text, f->length, branch, "offset:"))
        branch = skip_space(f, name_end(f, branch));
    return branch;
}

/* Adds the frame of the message that opens at `at`: everything but its branches. `*found` says
 * whether it is one. */
static bool add_message(finding *f, size_t at, bool *found, bool *plural)
{
    size_t count = f->frames->count, close = f->closes[at], begin = at;
    size_t branch = first_branch(f, at, plural);
    *found = false;
    while (branch && branch < close) {
        size_t open = skip_space(f, name_end(f, branch));
        if (open == branch || open >= close || f->text[open] != '{')
            break;
        if (!add(f, begin, open + 1, DOC_EVENT_BREAK))
            return false;
        begin = f->closes[open];
        branch = skip_space(f, begin + 1);
    }
    *found = branch == close && begin > at;
    if (!*found) {
        f->frames->count = count;
        return true;
    }
    f->frames->items[count].begins = true;
    if (!add(f, begin, close + 1, DOC_EVENT_BREAK))
        return false;
    f->frames->items[f->frames->count - 1].ends = true;
    return true;
}

/* ---- Anki ----------------------------------------------------------------------------------- */

static bool add_cloze(finding *f, size_t at)
{
    size_t begin = at + 3, close = f->closes[at] - 1;
    if (!doc_starts_with(f->text, f->length, at, "{{c") || f->closes[at + 1] != close)
        return true;
    while (doc_is_digit(f->text[begin]))
        begin++;
    if (begin == at + 3 || !doc_starts_with(f->text, f->length, begin, "::"))
        return true;
    begin += 2;
    if (begin >= close)
        return true;
    bool nested = memchr(f->text + begin, '{', close - begin);
    const char *hint = nested ? NULL : memmem(f->text + begin, close - begin, "::", 2);
    if (!hint)
        return add(f, at, begin, DOC_EVENT_OPEN) && add(f, close, close + 2, DOC_EVENT_CLOSE);
    size_t parts = (size_t)(hint - f->text), first = f->frames->count;
    if (!add(f, at, begin, DOC_EVENT_BREAK) || !add(f, parts, parts + 2, DOC_EVENT_BREAK) ||
        !add(f, close, close + 2, DOC_EVENT_BREAK))
        return false;
    f->frames->items[first].begins = f->frames->items[first + 2].ends = true;
    return true;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static bool find_all(finding *f)
{
    size_t plural_end = 0;
    for (size_t at = 0; at < f->length; at++) {
        bool found = false, plural = false;
        if (at < plural_end && f->text[at] == '#' && !add(f, at, at + 1, DOC_EVENT_WORD))
            return false;
        if (f->text[at] != '{' || !f->closes[at])
            continue;
        if (!add_message(f, at, &found, &plural) || (!found && !add_cloze(f, at)))
            return false;
        if (found && plural && f->closes[at] > plural_end)
            plural_end = f->closes[at];
    }
    return true;
}

bool doc_frames_find(const char *text, size_t length, doc_frames *frames)
{
    finding f = {.text = text, .length = length, .frames = frames};
    frames->count = 0;
    if (!memchr(text, '{', length))
        return true;
    f.closes = calloc(length, sizeof *f.closes);
    if (!f.closes)
        return false;
    pair_braces(&f);
    bool ok = find_all(&f);
    free(f.closes);
    if (frames->count)
        qsort(frames->items, frames->count, sizeof *frames->items, by_place);
    return ok;
}
