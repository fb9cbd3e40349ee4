/*
 * A team: threads that wait side by side for small pieces of one caller's work, a few microseconds
 * each. Work never waits for a thread that has not begun it: the caller does it then. Where others
 * want the processors, too, that happens often, and threads that have begun are interrupted: then
 * the caller goes on alone for a while.
 */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <stddef.h>

typedef struct base_team base_team;

/* Does part number `part` of `parts` of some work. */
typedef void base_part(void *context, size_t part, size_t parts);

/* What teams have found out about the machine; all zero in the beginning, kept by the caller from
 * one team to the next. */
typedef struct base_team_past {
    size_t alone;   /* rounds that the caller is to work alone from now on */
    size_t penalty; /* rounds that it was to the last time */
    size_t missed;  /* grows with each round in which a thread did not come in time, else shrinks */
    size_t smooth;  /* rounds since it worked alone */
} base_team_past;

/* A team of `size` threads, the caller's included; NULL when memory runs out. They are started when
 * there is work, and asleep unless there was some a moment ago. */
base_team *base_team_create(size_t size, base_team_past *past);
void base_team_free(base_team *team); /* NULL is fine */

/* Does all parts of some work and returns when they are done: part 0 on the caller's thread, each
 * of the others where it was done the last time, if that thread is free, so that it finds in its
 * cache what it had there. NULL: a team of one. Only one thread may call at a time. */
void base_team_run(base_team *team, base_part *work, void *context);

#endif
