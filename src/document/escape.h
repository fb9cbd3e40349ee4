/* How formats spell text. All are doc_escape functions: false when memory runs out. */
#ifndef DOCUMENT_ESCAPE_H
#define DOCUMENT_ESCAPE_H

#include "document/unit.h"

bool doc_escape_none(base_buffer *out, const char *text, size_t length);
/* HTML, XML and WebVTT: & < >. */
bool doc_escape_markup(base_buffer *out, const char *text, size_t length);
/* In a CDATA section of XML, which has no escapes: what would end it is parted by a blank. */
bool doc_escape_cdata(base_buffer *out, const char *text, size_t length);
/* In an attribute between quotes of either kind. */
bool doc_escape_attribute(base_buffer *out, const char *text, size_t length);
/* Inside the quotes of a JSON string; characters beyond ASCII stay themselves. */
bool doc_escape_json(base_buffer *out, const char *text, size_t length);
/* Inside the quotes of a PO string. */
bool doc_escape_po(base_buffer *out, const char *text, size_t length);
/* Inside the quotes of a CSV field. */
bool doc_escape_csv_quoted(base_buffer *out, const char *text, size_t length);
/* CommonMark text at the start of a block, where it must not begin another kind of block; inside
 * one; in a cell of a table, where | is special too; in the title of an admonition, between quotes,
 * where those of the text become single ones. */
bool doc_escape_markdown(base_buffer *out, const char *text, size_t length);
bool doc_escape_markdown_inner(base_buffer *out, const char *text, size_t length);
bool doc_escape_markdown_cell(base_buffer *out, const char *text, size_t length);
bool doc_escape_markdown_quoted(base_buffer *out, const char *text, size_t length);

#endif
