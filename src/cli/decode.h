/* The bytes of an input as UTF-8, whatever they are. */
#ifndef CLI_DECODE_H
#define CLI_DECODE_H

#include "cli/reader.h"

typedef struct cli_decoder {
    cli_reader reader; /* its reader is NULL when it is known that there is nothing to decode */
    bool finished;     /* the reader gets no more bytes */
    bool ascii;        /* nothing but ASCII has come, in an encoding that is to be found out */
    zhen_text passed;  /* ASCII or UTF-8, to be given out next */
    zhen_document *document; /* that holds what was given out last, or NULL */
} cli_decoder;

/* The encoding is what the target's options say, or found out. All that can fail print why and make
 * the target a failed one. */
bool cli_decoder_start(cli_decoder *decoder, cli_target *target);
/* Takes the next bytes, which must stay until all text has been given out. */
bool cli_decoder_feed(cli_decoder *decoder, const char *bytes, size_t size);
/* There are no more bytes. */
bool cli_decoder_finish(cli_decoder *decoder);
/* Gives the next text, valid until the next call; empty if more bytes are needed. flush: gives what
 * whole lines there are, for input that pauses. */
bool cli_decoder_next(cli_decoder *decoder, bool flush, zhen_text *text);
void cli_decoder_end(cli_decoder *decoder);

#endif
