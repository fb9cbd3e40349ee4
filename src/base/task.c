#include "base/task.h"

#include <signal.h>

static void *run(void *context)
{
    const base_task *task = context;
    task->work(task->context);
    return NULL;
}

void base_task_start(base_task *task, void (*work)(void *context), void *context)
{
    *task = (base_task){.work = work, .context = context};
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return;
    task->started = pthread_create(&task->thread, NULL, run, task) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void base_task_wait(base_task *task)
{
    if (task->started)
        pthread_join(task->thread, NULL);
    else
        task->work(task->context);
}
