/* One text in, one text out, for suites that compare documents with what they expect. */
#ifndef TESTS_DOCUMENT_TRANSLATE_H
#define TESTS_DOCUMENT_TRANSLATE_H

#include "document/mock.h"

/* The glossed output for a text in a format; it must be `expected`. */
void expect_gloss(const zhen_document_options *options, const char *text, const char *expected);
/* The same for a translator of another kind. */
void expect_output(const zhen_document_options *options, mock_kind kind, const char *text,
                   const char *expected);
/* Reading must fail with exactly this message. */
void expect_failure(const zhen_document_options *options, const char *text, const char *message);

#endif
