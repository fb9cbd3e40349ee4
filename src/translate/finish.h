/* From token ids to English: what the search found becomes the versions of an entry. */
#ifndef TRANSLATE_FINISH_H
#define TRANSLATE_FINISH_H

#include "base/buffer.h"
#include "model/model.h"
#include "search/search.h"
#include "translate/memory.h"

/* Settings and working memory of one thread. All of the memory zero is empty. */
typedef struct translate_finisher {
    const tok_tokenizer *tokenizer;
    bool guard; /* mend versions, and never leave one empty */
    base_buffer text;
    zhen_span *spans; /* of the tokens in `text` */
    size_t capacity;
} translate_finisher;

/* Fills in the versions of `entry` (equal texts once) and, if it has the spans of its tokens, its
 * links; then frees what only the search needed. */
zhen_status translate_finish(translate_finisher *finisher, translate_entry *entry,
                             const search_hypothesis *hypotheses, size_t count, zhen_error *error);
void translate_finisher_free(translate_finisher *finisher);

/* Takes spaces off both ends of a text and leaves one of several in a row; moves spans along. False
 * when memory runs out. */
bool translate_tidy(base_buffer *text, zhen_span *spans, size_t count);

/* Tidies a translation of `source` and takes out of it what the model cannot have meant: U+FFFD
 * that the source has not, which bytes that form no character become; a quotation mark at either
 * end that closes or opens a speech which in the source goes on beyond this end; a space before the
 * last mark of a quotation. Adds the closing mark of a speech that ends with the source. False when
 * memory runs out. */
bool translate_mend(base_buffer *text, zhen_span *spans, size_t count, const zhen_text *source);

#endif
