#include "tokenizer/normalizer.h"

#include <utf8proc.h>

/* What the normaliser makes of the beginning of a text. */
typedef struct prefix {
    const char *text; /* written instead */
    size_t length;
    size_t consumed; /* bytes of the original */
} prefix;

/* A character that no rule covers: stays; a byte that is no UTF-8 becomes U+FFFD. */
static prefix plain_prefix(const char *text, size_t length)
{
    utf8proc_int32_t character;
    utf8proc_ssize_t limit = length > 4 ? 4 : (utf8proc_ssize_t)length;
    utf8proc_ssize_t size = utf8proc_iterate((const utf8proc_uint8_t *)text, limit, &character);
    if (size <= 0)
        return (prefix){"\xEF\xBF\xBD", 3, 1};
    return (prefix){text, (size_t)size, (size_t)size};
}

static prefix next_prefix(const spm_normalizer *normalizer, const char *text, size_t length)
{
    const spm_trie *user_defined = normalizer->user_defined; /* most models have none */
    size_t known = user_defined->nodes ? spm_trie_longest(user_defined, text, length) : 0;
    if (known)
        return (prefix){text, known, known};
    const char *replacement;
    known = spm_charsmap_longest(&normalizer->charsmap, text, length, &replacement);
    if (known)
        return (prefix){replacement, strlen(replacement), known};
    return plain_prefix(text, length);
}

static bool put(spm_normalized *normalized, const char *bytes, size_t length, size_t origin)
{
    base_buffer *text = normalized->text;
    if (text->capacity - text->length <= length && !base_buffer_reserve(text, length))
        return false;
    size_t end = text->length + length;
    if (!base_grow((void **)&normalized->origin, &normalized->capacity, end + 1,
                   sizeof *normalized->origin))
        return false;
    for (size_t i = 0; i < length; i++) {
        text->data[text->length + i] = bytes[i];
        normalized->origin[text->length + i] = origin;
    }
    text->length = end;
    return true;
}

static bool put_space(const spm_normalizer *normalizer, spm_normalized *normalized, size_t origin)
{
    if (normalizer->escape_whitespaces)
        return put(normalized, SPM_SPACE, SPM_SPACE_LENGTH, origin);
    return put(normalized, " ", 1, origin);
}

static bool put_escaped(const spm_normalizer *normalizer, spm_normalized *normalized,
                        const char *bytes, size_t length, size_t origin)
{
    for (size_t begin = 0, end = 0; end <= length; end++) {
        if (end < length && bytes[end] != ' ')
            continue;
        if (!put(normalized, bytes + begin, end - begin, origin))
            return false;
        if (end < length && !put_space(normalizer, normalized, origin))
            return false;
        begin = end + 1;
    }
    return true;
}

static size_t skip_leading_spaces(const spm_normalizer *normalizer, const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        prefix next = next_prefix(normalizer, text + at, length - at);
        if (next.length != 1 || next.text[0] != ' ')
            break;
        at += next.consumed;
    }
    return at;
}

/* Cuts trailing spaces off and returns the original offset where they began, else `end`. */
static size_t cut_trailing_spaces(const spm_normalizer *normalizer, spm_normalized *normalized,
                                  size_t end)
{
    const char *space = normalizer->escape_whitespaces ? SPM_SPACE : " ";
    size_t size = strlen(space);
    base_buffer *text = normalized->text;
    while (text->length >= size && !memcmp(text->data + text->length - size, space, size)) {
        text->length -= size;
        end = normalized->origin[text->length];
    }
    return end;
}

static bool normalize_from(const spm_normalizer *normalizer, const char *text, size_t at,
                           size_t length, spm_normalized *normalized)
{
    const bool tidy = normalizer->remove_extra_whitespaces;
    bool after_space = tidy;
    while (at < length) {
        prefix next = next_prefix(normalizer, text + at, length - at);
        while (after_space && next.length && *next.text == ' ') {
            next.text++;
            next.length--;
        }
        if (next.length) {
            if (!put_escaped(normalizer, normalized, next.text, next.length, at))
                return false;
            after_space = tidy && next.text[next.length - 1] == ' ';
        }
        at += next.consumed;
    }
    return true;
}

bool spm_normalize(const spm_normalizer *normalizer, const char *text, size_t length,
                   spm_normalized *normalized)
{
    base_buffer_clear(normalized->text);
    const bool tidy = normalizer->remove_extra_whitespaces;
    size_t at = tidy ? skip_leading_spaces(normalizer, text, length) : 0;
    if (at == length)
        return true;
    const bool dummy = normalizer->add_dummy_prefix;
    if (dummy && !normalizer->space_is_suffix && !put_space(normalizer, normalized, at))
        return false;
    if (!normalize_from(normalizer, text, at, length, normalized))
        return false;
    size_t end = tidy ? cut_trailing_spaces(normalizer, normalized, length) : length;
    if (dummy && normalizer->space_is_suffix && !put_space(normalizer, normalized, end))
        return false;
    if (!put(normalized, "", 0, end)) /* makes room for the last origin and the zero byte */
        return false;
    normalized->origin[normalized->text->length] = end;
    normalized->text->data[normalized->text->length] = '\0';
    return true;
}
