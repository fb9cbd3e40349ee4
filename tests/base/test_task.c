/* Tasks: on a thread of their own, or not. */
#include "base/task.h"
#include "support/suite.h"
#include "support/threads.h"

#include <signal.h>
#include <stdlib.h>

typedef struct note {
    int calls;
    pthread_t thread;
    bool masked;
} note;

static void take_note(void *context)
{
    note *n = context;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    n->calls++;
    n->thread = pthread_self();
    n->masked = sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM);
}

START_TEST(runs_once_on_a_thread_without_signals)
{
    note notes[3] = {{0}};
    base_task tasks[3];
    for (int i = 0; i < 3; i++)
        base_task_start(&tasks[i], take_note, &notes[i]);
    for (int i = 0; i < 3; i++)
        base_task_wait(&tasks[i]);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(notes[i].calls, 1);
        ck_assert(!pthread_equal(notes[i].thread, pthread_self()));
        ck_assert(notes[i].masked);
    }
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ck_assert(!sigismember(&mask, SIGINT));
}
END_TEST

START_TEST(runs_once_without_a_thread)
{
    note n = {0};
    base_task task;
    without_threads = true;
    base_task_start(&task, take_note, &n);
    base_task_wait(&task);
    ck_assert_int_eq(n.calls, 1);
    ck_assert(pthread_equal(n.thread, pthread_self()));
    ck_assert(!n.masked);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("task");
    tcase_add_test(tests, runs_once_on_a_thread_without_signals);
    tcase_add_test(tests, runs_once_without_a_thread);
    return run_group("base_task", tests);
}
