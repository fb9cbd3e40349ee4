#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { WATCHED_MAX = 512 };

/* A handler has nothing but static variables to work with. */
static volatile sig_atomic_t caught;
static _Atomic(zhen_translator *) watched[WATCHED_MAX];
static atomic_uint handlers; /* at work, on any thread */

static int wake[2] = {-1, -1}; /* a pipe */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void handle(int signal)
{
    int saved = errno;
    caught = signal;
    if (write(wake[1], "", 1) < 0) {
        /* Full or missing: a waiting read is interrupted all the same, but for the race. */
    }
    errno = saved;
    atomic_fetch_add(&handlers, 1);
    for (size_t i = 0; i < WATCHED_MAX; i++) {
        zhen_translator *translator = atomic_load(&watched[i]);
        if (translator)
            zhen_translator_cancel(translator);
    }
    atomic_fetch_sub(&handlers, 1);
}

void cli_signals_catch(void)
{
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK))
        wake[0] = wake[1] = -1;
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow further is a failed write, no death */
    /* Without SA_RESTART a read that waits for input returns with EINTR. */
    struct sigaction action = {.sa_handler = handle};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before;
        /* A signal that the caller ignores (nohup) stays ignored. */
        if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

static void replace(zhen_translator *from, zhen_translator *to)
{
    for (size_t i = 0; i < WATCHED_MAX; i++) {
        zhen_translator *expected = from;
        if (atomic_compare_exchange_strong(&watched[i], &expected, to))
            return;
    }
}

void cli_signals_watch(zhen_translator *translator)
{
    replace(NULL, translator);
    if (caught) /* in the moment before */
        zhen_translator_cancel(translator);
}

void cli_signals_forget(zhen_translator *translator)
{
    replace(translator, NULL);
    while (atomic_load(&handlers)) /* one on another thread may still have it in hand */
        sched_yield();
}

bool cli_signals_caught(void)
{
    return caught != 0;
}

int cli_signals_descriptor(void)
{
    return wake[0];
}

void cli_signals_die(void)
{
    if (!caught)
        return;
    signal(caught, SIG_DFL);
    raise(caught);
}
