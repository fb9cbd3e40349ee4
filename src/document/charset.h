/* The encoding that a file itself declares, and the one that its bytes suggest. */
#ifndef DOCUMENT_CHARSET_H
#define DOCUMENT_CHARSET_H

#include "zhen.h"

/* Finds the first declared name in text[from..length): charset=... of an HTML meta tag or a PO
 * header, encoding="..." of an XML declaration. */
bool doc_charset_declared(zhen_format format, const char *text, size_t length, size_t from,
                          zhen_span *name);

/* The name under which iconv decodes an encoding that goes by `name`: the wider relative where
 * there is one (gb2312 is read as GB18030, big5 as BIG5-HKSCS). Other names are given back as they
 * are. */
const char *doc_charset_canonical(const char *name);

/* Whether the bytes are ASCII without zero bytes, which all encodings that are guessed but UTF-16
 * spell alike. */
bool doc_charset_is_ascii(const char *bytes, size_t length);

/* Guesses the encoding of a sample of a file: by its byte order mark, by being UTF-8, by its
 * declaration, by how frequent the characters are that it would consist of. Never NULL; "UTF-8" if
 * there is nothing but ASCII. */
const char *doc_charset_guess(zhen_format format, const char *sample, size_t length);

#endif
