/* The command line: what its parts share. Only src/cli prints and exits. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "zhen.h"

#include <stdbool.h>
#include <stddef.h>

/* Exit codes, as in the man page. */
typedef enum cli_exit {
    CLI_DONE = 0,   /* everything was translated */
    CLI_FAILED = 1, /* some input could not be read, or some output not be written */
    CLI_USAGE = 2,  /* the command line makes no sense */
    CLI_MODEL = 3   /* the model cannot be used */
} cli_exit;

/* What is written for what is read. */
typedef enum cli_style {
    CLI_DOCUMENT, /* the input with its prose translated */
    CLI_NBEST,    /* these three: for each line, a record about it */
    CLI_JSON,
    CLI_PAIRS
} cli_style;

typedef struct cli_options {
    const char *model;  /* directory, or NULL: the default model */
    bool files;         /* operands are files, not text */
    const char *output; /* file or directory, or NULL: standard output */
    bool recursive;     /* operands may be directories */
    bool resume, stop_at_failure;
    unsigned jobs;
    cli_style style;
    bool quiet, verbose;
    bool has_format;
    /* format (if has_format), encoding, paragraphs, ...; what each file gets */
    zhen_document_options document;
    bool interleaved;
    /* What the command line says over the model's own defaults; has_... tells whether it does. */
    bool has_beam, has_length_penalty;
    unsigned beam, nbest, threads;
    double length_penalty;
    size_t max_length;
    bool guard;
    char **operands; /* texts or files */
    size_t operand_count;
} cli_options;

/* Reads the command line. Returns false when the program is to end with *code: after an error
 * (printed) or after --help or --version. */
bool cli_options_parse(int argc, char **argv, cli_options *options, cli_exit *code);

/* Prints "zhen: " and the message on standard error, in one piece whatever other threads print. */
__attribute__((format(printf, 1, 2))) void cli_error(const char *format, ...);

/* Opens the model that the options name, or the default one; prints why if it cannot. */
zhen_model *cli_model_open(const char *directory);

/* "zhen info [DIR]" and "zhen quantize IN OUT". */
cli_exit cli_info(int argc, char **argv);
cli_exit cli_quantize(int argc, char **argv);

#endif
