#include "tokenizer/charsmap.h"

#include <stdint.h>

/*
 * A unit of the double array, from the lowest bit: 8 bits of label (the byte that leads to it), one
 * bit that says that a key ends here, one bit that says that the offset counts in 256s, 22 bits of
 * offset. The child by byte b of unit i is unit i ^ offset(i) ^ b, if that one's label is b. The
 * value of a key stands in the child by byte 0; its top bit is set, so that it never looks like a
 * label.
 */
enum { UNIT_SIZE = 4, BLOCK_UNITS = 256, BLOCK_SIZE = BLOCK_UNITS * UNIT_SIZE };

static uint32_t read_u32(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t unit_at(const unsigned char *units, size_t index)
{
    return read_u32(units + index * UNIT_SIZE);
}

static bool is_value(uint32_t unit)
{
    return unit >> 31;
}

static uint32_t label(uint32_t unit)
{
    return unit & (UINT32_C(1) << 31 | 0xFF);
}

static bool has_value(uint32_t unit)
{
    return unit >> 8 & 1;
}

static size_t offset(uint32_t unit)
{
    return (size_t)(unit >> 10) << (unit >> 9 & 1 ? 8 : 0);
}

/* Whether all children of a unit lie in the array, and its value in the strings. */
static bool unit_is_sound(const unsigned char *units, size_t count, size_t index,
                          size_t strings_size)
{
    uint32_t unit = unit_at(units, index);
    if (is_value(unit))
        return (unit & INT32_MAX) < strings_size;
    size_t children = index ^ offset(unit);
    if ((children | (BLOCK_UNITS - 1)) >= count)
        return false;
    return !has_value(unit) || is_value(unit_at(units, children));
}

static bool trie_is_sound(const unsigned char *units, size_t count, size_t strings_size)
{
    uint32_t root = unit_at(units, 0);
    if (label(root) != 0 || has_value(root) || offset(root) == 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!unit_is_sound(units, count, i, strings_size))
            return false;
    return true;
}

bool spm_charsmap_read(spm_charsmap *map, const unsigned char *bytes, size_t size)
{
    const size_t header = sizeof(uint32_t);
    if (size <= header)
        return false;
    size_t trie_size = read_u32(bytes);
    if (trie_size == 0 || trie_size % BLOCK_SIZE || trie_size >= size - header)
        return false;
    const unsigned char *units = bytes + header;
    size_t strings_size = size - header - trie_size;
    if (bytes[size - 1] != '\0' || !trie_is_sound(units, trie_size / UNIT_SIZE, strings_size))
        return false;
    *map = (spm_charsmap){units, (const char *)units + trie_size};
    return true;
}

size_t spm_charsmap_longest(const spm_charsmap *map, const char *text, size_t length,
                            const char **replacement)
{
    if (!map->units)
        return 0;
    size_t longest = 0, index = 0;
    uint32_t unit = unit_at(map->units, 0);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        index ^= offset(unit) ^ byte;
        unit = unit_at(map->units, index);
        if (label(unit) != byte)
            break;
        if (has_value(unit)) {
            longest = i + 1;
            *replacement = map->strings + (unit_at(map->units, index ^ offset(unit)) & INT32_MAX);
        }
    }
    return longest;
}
