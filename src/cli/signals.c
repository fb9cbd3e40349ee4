#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>

/* A handler has nothing but static variables to work with. */
static volatile sig_atomic_t caught;
static zhen_translator *volatile running;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void handle(int signal)
{
    caught = signal;
    if (running)
        zhen_translator_cancel(running);
}

void cli_signals_catch(zhen_translator *translator)
{
    running = translator;
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

void cli_signals_forget(void)
{
    running = NULL;
}

bool cli_signals_caught(void)
{
    return caught != 0;
}

void cli_signals_die(void)
{
    if (!caught)
        return;
    signal(caught, SIG_DFL);
    raise(caught);
}
