/* Writes JSON (RFC 8259) to a target. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "cli/target.h"

/* A quoted string; bytes that are not UTF-8 become U+FFFD. */
void cli_json_string(cli_target *target, const char *text, size_t length);
void cli_json_number(cli_target *target, double number);
/* Text as it is: punctuation, keys. */
void cli_json_raw(cli_target *target, const char *text);

#endif
