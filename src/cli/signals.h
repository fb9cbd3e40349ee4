/* Ctrl-C and its kin: the running translation is cancelled, temporary files are removed, and the
 * program then dies of the signal, as shells expect. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "zhen.h"

#include <stdbool.h>

/* Catches SIGINT, SIGTERM and SIGHUP; `translator` is cancelled when one comes. */
void cli_signals_catch(zhen_translator *translator);
/* To be called before the translator is freed. */
void cli_signals_forget(void);
bool cli_signals_caught(void);
/* If a signal came: restores its default action and raises it, which ends the program. */
void cli_signals_die(void);

#endif
