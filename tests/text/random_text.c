#include "text/random_text.h"

#include <stdlib.h>

static const char *const parts_of_text[] = {
    "我",
    "爱",
    "水课",
    "说",
    "的",
    "等",
    "是",
    "𠀀",
    "々",
    "ア",
    "a",
    "Dr",
    "U.S.",
    "3.14",
    "1",
    "２",
    "No",
    "www.a",
    "://",
    "@",
    "😀",
    "👨‍👩‍👧",
    "e\u0301",
    "。",
    "！",
    "？",
    "；",
    "…",
    "……",
    ".",
    "...",
    "!",
    "?",
    ";",
    "，",
    "、",
    "：",
    ",",
    "——",
    "“",
    "”",
    "‘",
    "’",
    "「",
    "」",
    "（",
    "）",
    "(",
    ")",
    "《",
    "》",
    "\"",
    "'",
    "[1]",
    " ",
    "　",
    "\n",
    "\t",
    "\r",
    "&",
    "\u200b",
    "\ufeff",
    "\u2028",
    "#",
    "\xEF\xBF\xBD",
};

uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void random_text(uint64_t *state, size_t parts, base_buffer *text)
{
    base_buffer_clear(text);
    for (size_t count = random_next(state) % (parts + 1); count; count--) {
        size_t kinds = sizeof parts_of_text / sizeof *parts_of_text;
        if (!base_buffer_append_string(text, parts_of_text[random_next(state) % kinds]))
            abort();
    }
    if (!base_buffer_reserve(text, 0))
        abort();
}
