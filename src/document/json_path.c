#include "document/json_path.h"

#include "base/buffer.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

typedef enum step_kind { STEP_NAME, STEP_INDEX, STEP_ANY, STEP_DEEP, STEP_END } step_kind;

struct doc_json_step {
    step_kind kind;
    const char *name;
    size_t name_length;
    size_t index; /* of an end: whether its pattern has matched */
};

/* ---- Patterns ----------------------------------------------------------------------------- */

static bool add_step(doc_json_path *path, const doc_json_step *step)
{
    if (!base_grow((void **)&path->steps, &path->step_capacity, path->step_count + 1,
                   sizeof *path->steps))
        return false;
    path->steps[path->step_count++] = *step;
    return true;
}

/* The inside of brackets at *at: *, a number, or a quoted name. */
static bool read_brackets(const char **at, doc_json_step *step)
{
    const char *p = *at + 1;
    if (*p == '*') {
        step->kind = STEP_ANY;
        p++;
    } else if (*p == '"' || *p == '\'') {
        const char *end = strchr(p + 1, *p);
        if (!end)
            return false;
        *step = (doc_json_step){STEP_NAME, p + 1, (size_t)(end - p - 1), 0};
        p = end + 1;
    } else {
        char *end;
        if (*p < '0' || *p > '9')
            return false;
        *step = (doc_json_step){.kind = STEP_INDEX, .index = strtoul(p, &end, 10)};
        p = end;
    }
    if (*p != ']')
        return false;
    *at = p + 1;
    return true;
}

/* Whether only blanks stand before the pattern's comma or the end. */
static bool ends_pattern(const char *at)
{
    at += strspn(at, " ");
    return !*at || *at == ',';
}

/* Blanks within a name belong to it; those before the pattern's end do not. */
static bool read_name(const char **at, doc_json_step *step)
{
    size_t length = strcspn(*at, ".[,");
    if (ends_pattern(*at + length))
        while (length > 0 && (*at)[length - 1] == ' ')
            length--;
    if (length == 0)
        return false;
    *step = (doc_json_step){STEP_NAME, *at, length, 0};
    if (length == 1 && **at == '*')
        step->kind = STEP_ANY;
    *at += length;
    return true;
}

/* One pattern, up to its comma or the end; blanks around it are no part of it. */
static zhen_status read_pattern(doc_json_path *path, const char **at, zhen_error *error)
{
    *at += strspn(*at, " ");
    const char *begin = *at;
    if (**at == '$')
        ++*at;
    else if (ends_pattern(*at)) /* a comma too many does not mean every string */
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "JSON path %s: a path is empty", path->text);
    for (bool first = true; !ends_pattern(*at); first = false) {
        doc_json_step step = {.kind = STEP_DEEP};
        bool ok = true;
        if (strncmp(*at, "..", 2) == 0) {
            if (!add_step(path, &step))
                return base_fail_memory(error);
            *at += 2;
            ok = **at == '[' ? read_brackets(at, &step) : read_name(at, &step);
        } else if (**at == '[') {
            ok = read_brackets(at, &step);
        } else if (**at == '.' || first) {
            *at += **at == '.';
            ok = read_name(at, &step);
        } else {
            ok = false;
        }
        if (!ok)
            return base_fail(error, ZHEN_ERROR_ARGUMENT, "JSON path %s: not understood at \"%s\"",
                             begin, *at);
        if (!add_step(path, &step))
            return base_fail_memory(error);
    }
    size_t length = (size_t)(*at - begin);
    *at += strspn(*at, " ");
    return add_step(path, &(doc_json_step){STEP_END, begin, length, 0}) ? ZHEN_OK
                                                                        : base_fail_memory(error);
}

zhen_status doc_json_path_open(doc_json_path *path, const char *patterns, zhen_error *error)
{
    *path = (doc_json_path){0};
    path->text = strdup(patterns ? patterns : "$");
    if (!path->text)
        return base_fail_memory(error);
    for (const char *at = path->text;; at++) {
        zhen_status status = read_pattern(path, &at, error);
        if (status || !*at)
            return status;
    }
}

void doc_json_path_close(doc_json_path *path)
{
    free(path->levels);
    free(path->steps);
    free(path->text);
    *path = (doc_json_path){0};
}

/* ---- Place -------------------------------------------------------------------------------- */

bool doc_json_path_enter(doc_json_path *path, bool object)
{
    if (!base_grow((void **)&path->levels, &path->capacity, path->depth + 1, sizeof *path->levels))
        return false;
    path->levels[path->depth++] = (doc_json_level){.object = object};
    return true;
}

void doc_json_path_leave(doc_json_path *path)
{
    path->depth--;
}

void doc_json_path_name(doc_json_path *path, const char *name, size_t length)
{
    path->levels[path->depth - 1].name = name;
    path->levels[path->depth - 1].name_length = length;
}

void doc_json_path_next(doc_json_path *path)
{
    path->levels[path->depth - 1].index++;
}

bool doc_json_path_in_object(const doc_json_path *path)
{
    return path->levels[path->depth - 1].object;
}

/* ---- Matching ----------------------------------------------------------------------------- */

static bool step_fits(const doc_json_step *step, const doc_json_level *level)
{
    if (step->kind == STEP_ANY)
        return true;
    if (step->kind == STEP_INDEX)
        return !level->object && level->index == step->index;
    return level->object && level->name_length == step->name_length &&
           memcmp(level->name, step->name, step->name_length) == 0;
}

/* As a glob is matched: after "..", which swallows any levels, there is one place to go back to. */
static bool pattern_matches(const doc_json_path *path, doc_json_step *step)
{
    doc_json_step *retry = NULL;
    size_t level = 0, retry_level = 0;
    while (step->kind != STEP_END) {
        if (step->kind == STEP_DEEP) {
            retry = ++step;
            retry_level = level;
        } else if (level < path->depth && step_fits(step, &path->levels[level])) {
            step++;
            level++;
        } else if (retry && retry_level < path->depth) {
            step = retry;
            level = ++retry_level;
        } else {
            return false;
        }
    }
    step->index = true;
    return true;
}

bool doc_json_path_matches(const doc_json_path *path)
{
    bool matches = false;
    for (size_t i = 0; i < path->step_count; i++) {
        matches = pattern_matches(path, &path->steps[i]) || matches;
        while (path->steps[i].kind != STEP_END)
            i++;
    }
    return matches;
}

bool doc_json_path_report(const doc_json_path *path, doc_wishes *wishes)
{
    for (size_t i = 0; i < path->step_count; i++) {
        const doc_json_step *step = &path->steps[i];
        if (step->kind == STEP_END &&
            !doc_wishes_add(wishes, step->name, step->name_length, step->index))
            return false;
    }
    return true;
}
