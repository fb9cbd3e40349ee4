/*
 * A team: threads that wait side by side for small pieces of one caller's work, a few microseconds
 * each. Whoever is free takes part; work never waits for a thread that has not begun it, so a team
 * on a busy machine is no slower than its caller alone.
 */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <stddef.h>

typedef struct base_team base_team;

/* Does part number `part` of `parts` of some work. */
typedef void base_part(void *context, size_t part, size_t parts);

/* A team of `size` threads, the caller's included; NULL when memory runs out. They are asleep
 * unless there was work a moment ago. */
base_team *base_team_create(size_t size);
void base_team_free(base_team *team); /* NULL is fine */

/* Does all parts of some work and returns when they are done: part 0 on the caller's thread, each
 * of the others where it was done the last time, if that thread is free, so that it finds in its
 * cache what it had there. NULL: a team of one. Only one thread may call at a time. */
void base_team_run(base_team *team, base_part *work, void *context);

#endif
