#include "document/wishes.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

bool doc_wishes_add(doc_wishes *wishes, const char *text, size_t length, bool granted)
{
    for (size_t i = 0; i < wishes->count; i++) {
        doc_wish *wish = &wishes->items[i];
        if (strlen(wish->text) == length && memcmp(wish->text, text, length) == 0) {
            wish->granted = wish->granted || granted;
            return true;
        }
    }
    if (!base_grow((void **)&wishes->items, &wishes->capacity, wishes->count + 1,
                   sizeof *wishes->items))
        return false;
    char *copy = malloc(length + 1);
    if (!copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    wishes->items[wishes->count++] = (doc_wish){copy, granted};
    return true;
}

void doc_wishes_free(doc_wishes *wishes)
{
    for (size_t i = 0; i < wishes->count; i++)
        free(wishes->items[i].text);
    free(wishes->items);
    *wishes = (doc_wishes){0};
}
