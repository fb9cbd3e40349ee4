/*
 * A document, or a chunk of one: its source as UTF-8, the units in it, and how the output is put
 * together. Parsers fill it; zhen_document_... of zhen.h is its public face.
 */
#ifndef DOCUMENT_DOCUMENT_H
#define DOCUMENT_DOCUMENT_H

#include "document/flow.h"
#include "document/table.h"
#include "document/unit.h"
#include "document/wishes.h"

/* When a block replaces its bytes of the source. */
typedef enum doc_when {
    DOC_WHEN_UNITS,   /* one of the block's units has changed */
    DOC_WHEN_CHANGED, /* any unit of the document has changed */
    DOC_WHEN_ALWAYS
} doc_when;

/* A stretch of the source that is replaced by pieces. Blocks do not overlap. */
typedef struct doc_block {
    zhen_span range;
    doc_when when;
    size_t first_unit, unit_count; /* that it watches: those in it, unless said otherwise */
    size_t first_piece, piece_count;
    /* Has the last word on what the block wrote, from output->data + begin on; may be NULL. False
     * when memory runs out. */
    bool (*finish)(base_buffer *output, size_t begin);
} doc_block;

typedef struct doc_piece {
    size_t unit; /* SIZE_MAX: literal text */
    const char *text;
    size_t length;
    bool rendered; /* the text is the source's, and the blocks in it are written for it */
} doc_piece;

struct zhen_document {
    zhen_document_options options; /* strings in it belong to whoever made the document */
    base_arena arena;
    base_buffer source;   /* UTF-8 */
    size_t body;          /* where the text begins: behind a byte order mark */
    size_t first_line;    /* line number of the source's first line, for messages */
    bool first;           /* whether the document's beginning is in this chunk */
    doc_columns *columns; /* of a table; the reader's, for the parser's use */
    doc_wishes *wishes;   /* of columns or JSON paths; so is this */
    bool transcoded;      /* the file had another encoding than UTF-8 */
    bool changed;         /* any unit has changed, as of the last rendering */
    doc_units units;
    doc_flow flow; /* for the parser's use */
    doc_block *blocks;
    size_t block_count, block_capacity;
    doc_piece *pieces;
    size_t piece_count, piece_capacity;
    base_buffer output;
};

/* Reads the source and adds units and blocks. */
typedef zhen_status (*doc_parser)(zhen_document *document, zhen_error *error);

/* The parser of a format; never NULL. */
doc_parser doc_parser_of(zhen_format format);

zhen_status doc_parse_text(zhen_document *document, zhen_error *error);
zhen_status doc_parse_markdown(zhen_document *document, zhen_error *error);
zhen_status doc_parse_html(zhen_document *document, zhen_error *error);
zhen_status doc_parse_xhtml(zhen_document *document, zhen_error *error);
zhen_status doc_parse_subtitles(zhen_document *document, zhen_error *error);
zhen_status doc_parse_po(zhen_document *document, zhen_error *error);
zhen_status doc_parse_json(zhen_document *document, zhen_error *error);
zhen_status doc_parse_table(zhen_document *document, zhen_error *error);
zhen_status doc_parse_xliff(zhen_document *document, zhen_error *error);

/* Makes an empty document that will take over nothing of `options` but copies of its values. */
zhen_status doc_create(const zhen_document_options *options, zhen_document **document,
                       zhen_error *error);
/* Runs the format's parser on document->source. */
zhen_status doc_parse(zhen_document *document, zhen_error *error);

/* Finishes document->flow; its units replace their own bytes of the source. */
bool doc_finish_in_place(zhen_document *document);
/* Begins a block of the given range; pieces are added to the block begun last. */
bool doc_begin_block(zhen_document *document, zhen_span range, doc_when when);
bool doc_add_literal(zhen_document *document, const char *text, size_t length);
/* Adds source bytes. */
bool doc_add_source(zhen_document *document, zhen_span range);
/* Adds what becomes of source bytes, which must not hold the block itself. */
bool doc_add_rendered(zhen_document *document, zhen_span range);
/* Finishes document->flow and adds all its parts, units and what is between them. */
bool doc_add_flow(zhen_document *document);

/* If the file had another encoding, the names of it that are declared in the range become `name`.
 */
bool doc_redeclare(zhen_document *document, zhen_span range, const char *name);

/* If the range, which says what language the document is in, says Chinese (zh, zh-CN, zh_Hant), it
 * says English where anything is translated. */
bool doc_change_language(zhen_document *document, zhen_span range);

/* Fails with a message that names the file and the line of the source offset. */
__attribute__((format(printf, 4, 5))) zhen_status doc_fail_at(const zhen_document *document,
                                                              size_t offset, zhen_error *error,
                                                              const char *format, ...);

#endif
