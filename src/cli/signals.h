/* Ctrl-C and its kin: running translations are cancelled, temporary files are removed, and the
 * program then dies of the signal, as shells expect. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "zhen.h"

#include <stdbool.h>

/* Catches SIGINT, SIGTERM and SIGHUP from now on. */
void cli_signals_catch(void);
/* The translator is cancelled when a signal comes, until it is forgotten, which must happen before
 * it is freed. Thread-safe. */
void cli_signals_watch(zhen_translator *translator);
void cli_signals_forget(zhen_translator *translator);
bool cli_signals_caught(void);
/* A descriptor that becomes readable, and stays so, when a signal has come: to be polled beside the
 * input, for a signal that comes between a look at cli_signals_caught and a read would be missed.
 */
int cli_signals_descriptor(void);
/* If a signal came: restores its default action and raises it, which ends the program. */
void cli_signals_die(void);

#endif
