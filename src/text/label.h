/* What stands before a sentence without being part of it: bullets, list labels, names of fields. */
#ifndef TEXT_LABEL_H
#define TEXT_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The end of the bullets, arrows, emoji and other signs, of the ASCII list label before a blank
 * (a. 12) IV.) or of the circled number before an item (①), with which the text begins; 0 if it
 * begins with none, or nothing follows that could do without it. */
size_t text_lead_end(const char *text, size_t length);

/* Whether the text begins with a sign that after a blank begins an item: ■ ○ ▸ • */
bool text_begins_with_bullet(const char *text, size_t length);
/* Whether the text has nothing but emoji and other signs up to the end of its line. */
bool text_is_signs(const char *text, size_t length);
/* One of these signs, or a dash. */
bool text_is_sign(int32_t character);

/* The place in its list of the item whose label (1. or Ａ．or b) or ①) begins the text: two labels
 * follow one another if their places do. 0: no label. */
int text_item_place(const char *text, size_t length);
/* The place of 1., of A. and of ①. */
enum { TEXT_FIRST_NUMBER = 1, TEXT_FIRST_LETTER = 1001, TEXT_FIRST_CIRCLED = 2001 };

/* Whether the text begins with the name of a field, which a colon follows: 地点：北京. With
 * `strict` it must be Chinese characters and no more than six. */
bool text_begins_field(const char *text, size_t length, bool strict);

/* Emoji, and what joins and varies them. */
bool text_is_emoji(int32_t character);

#endif
