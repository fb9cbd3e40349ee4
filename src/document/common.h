/* Which Chinese characters are frequent, Simplified and Traditional. */
#ifndef DOCUMENT_COMMON_H
#define DOCUMENT_COMMON_H

#include <stdbool.h>

/* Whether the character, three bytes of UTF-8, is among the most frequent. */
bool doc_is_common(const char character[3]);

#endif
