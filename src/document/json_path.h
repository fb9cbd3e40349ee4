/*
 * Which strings of a JSON document are meant. A pattern is a path of member names and indices:
 * $.title, items[*].name, a.b[0], a.*.c, ["odd name"], $..title (at any depth); several are
 * separated by commas. A pattern that ends at an object or array means all strings in it.
 */
#ifndef DOCUMENT_JSON_PATH_H
#define DOCUMENT_JSON_PATH_H

#include "document/wishes.h"
#include "zhen.h"

/* A step down: into an object's member, or an array's element. */
typedef struct doc_json_level {
    bool object;
    const char *name; /* of the member; belongs to the document */
    size_t name_length;
    size_t index; /* of the element */
} doc_json_level;

typedef struct doc_json_step doc_json_step;

typedef struct doc_json_path {
    doc_json_level *levels; /* where we are */
    size_t depth, capacity;
    doc_json_step *steps; /* of all patterns; each ends in a step of its own kind */
    size_t step_count, step_capacity;
    char *text; /* the patterns' names */
} doc_json_path;

/* Reads the patterns; NULL means every string. */
zhen_status doc_json_path_open(doc_json_path *path, const char *patterns, zhen_error *error);
void doc_json_path_close(doc_json_path *path);

bool doc_json_path_enter(doc_json_path *path, bool object); /* false: out of memory */
void doc_json_path_leave(doc_json_path *path);
void doc_json_path_name(doc_json_path *path, const char *name, size_t length);
void doc_json_path_next(doc_json_path *path);
bool doc_json_path_in_object(const doc_json_path *path);

/* Whether the value at the current place is meant by any pattern. */
bool doc_json_path_matches(const doc_json_path *path);
/* Tells which patterns have matched so far; false: out of memory. */
bool doc_json_path_report(const doc_json_path *path, doc_wishes *wishes);

#endif
