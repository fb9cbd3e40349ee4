/* Work on a thread of its own. */
#ifndef BASE_TASK_H
#define BASE_TASK_H

#include <pthread.h>
#include <stdbool.h>

/* Must stay where it is from start to wait. */
typedef struct base_task {
    void (*work)(void *context);
    void *context;
    pthread_t thread;
    bool started;
} base_task;

/* Starts work(context) on a new thread. Signals do not go there: a handler of the caller's must not
 * run in a thread that it knows nothing of. */
void base_task_start(base_task *task, void (*work)(void *context), void *context);
/* Returns when the work is done. Where no thread could be had, does it here and now. */
void base_task_wait(base_task *task);

#endif
