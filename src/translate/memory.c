#include "translate/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_PLACES = 64 };

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = 0xCBF29CE484222325U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3U;
    return hash ^ hash >> 32;
}

translate_entry *translate_memory_find(const translate_memory *memory, const char *text,
                                       size_t length)
{
    if (!memory->places)
        return NULL;
    uint64_t hash = hash_text(text, length);
    translate_entry *entry = memory->table[hash & (memory->places - 1)];
    while (entry && (entry->hash != hash || entry->length != length ||
                     memcmp(entry->text, text, length) != 0))
        entry = entry->chain;
    return entry;
}

static bool grow(translate_memory *memory)
{
    size_t places = memory->places ? 2 * memory->places : FIRST_PLACES;
    translate_entry **table = calloc(places, sizeof(translate_entry *));
    if (!table)
        return false;
    for (translate_entry *entry = memory->oldest; entry; entry = entry->younger) {
        translate_entry **place = &table[entry->hash & (places - 1)];
        entry->chain = *place;
        *place = entry;
    }
    free(memory->table);
    memory->table = table;
    memory->places = places;
    return true;
}

translate_entry *translate_memory_add(translate_memory *memory, const char *text, size_t length)
{
    if (memory->count == memory->places && !grow(memory))
        return NULL;
    translate_entry *entry = calloc(1, sizeof *entry + length);
    if (!entry)
        return NULL;
    entry->text = (char *)(entry + 1);
    memcpy(entry->text, text, length);
    entry->length = length;
    entry->hash = hash_text(text, length);
    translate_entry **place = &memory->table[entry->hash & (memory->places - 1)];
    entry->chain = *place;
    *place = entry;
    if (memory->youngest)
        memory->youngest->younger = entry;
    else
        memory->oldest = entry;
    memory->youngest = entry;
    memory->count++;
    return entry;
}

static void free_entry(translate_entry *entry)
{
    for (size_t i = 0; i < entry->version_count; i++)
        free(entry->versions[i].text);
    free(entry->versions);
    free(entry->links);
    free(entry->spans);
    free(entry->ids);
    free(entry);
}

static size_t entry_bytes(const translate_entry *entry)
{
    size_t bytes = sizeof *entry + entry->length + entry->link_count * sizeof *entry->links;
    for (size_t i = 0; i < entry->version_count; i++)
        bytes += sizeof *entry->versions + entry->versions[i].length;
    return bytes;
}

static void unchain(translate_memory *memory, const translate_entry *entry)
{
    translate_entry **place = &memory->table[entry->hash & (memory->places - 1)];
    while (*place != entry)
        place = &(*place)->chain;
    *place = entry->chain;
    memory->count--;
}

/* Takes the entry after `before` (NULL: the oldest) out and frees it. */
static void forget_after(translate_memory *memory, translate_entry *before)
{
    translate_entry **link = before ? &before->younger : &memory->oldest;
    translate_entry *entry = *link;
    *link = entry->younger;
    if (memory->youngest == entry)
        memory->youngest = before;
    unchain(memory, entry);
    free_entry(entry);
}

void translate_memory_settle(translate_memory *memory, size_t limit)
{
    translate_entry *last = memory->settled, *entry;
    while ((entry = last ? last->younger : memory->oldest)) {
        if (!entry->versions) {
            forget_after(memory, last);
            continue;
        }
        memory->bytes += entry_bytes(entry);
        last = entry;
    }
    while (memory->oldest && memory->bytes > limit) {
        memory->bytes -= entry_bytes(memory->oldest);
        forget_after(memory, NULL);
    }
    memory->settled = memory->youngest;
}

void translate_memory_free(translate_memory *memory)
{
    for (translate_entry *entry = memory->oldest; entry;) {
        translate_entry *younger = entry->younger;
        free_entry(entry);
        entry = younger;
    }
    free(memory->table);
    *memory = (translate_memory){0};
}
