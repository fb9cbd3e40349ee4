/*
 * Byte-pair segmentation: characters are merged into pieces, best score first, leftmost first among
 * equals (Sennrich et al., 2016). Pairs wait in a binary heap; one that was overtaken by another
 * merge is recognised when it comes up and dropped.
 */
#include "tokenizer/spm_model.h"

/* Unused pieces are merged from others and cut again; the library stops at this depth. */
enum { MAX_DEPTH = 100 };
/* Of a symbol that no piece begins with: no step leads on from it. */
#define NO_NODE UINT32_MAX

static bool comes_before(const spm_pair *a, const spm_pair *b)
{
    return a->score > b->score || (a->score == b->score && a->left < b->left);
}

static bool push(struct spm_scratch *scratch, const spm_pair *pair)
{
    if (!base_grow((void **)&scratch->heap, &scratch->heap_capacity, scratch->heap_count + 1,
                   sizeof *scratch->heap))
        return false;
    size_t i = scratch->heap_count++;
    for (; i > 0 && comes_before(pair, &scratch->heap[(i - 1) / 2]); i = (i - 1) / 2)
        scratch->heap[i] = scratch->heap[(i - 1) / 2];
    scratch->heap[i] = *pair;
    return true;
}

static spm_pair pop(struct spm_scratch *scratch)
{
    spm_pair *heap = scratch->heap, top = heap[0], last = heap[--scratch->heap_count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < scratch->heap_count; i = child) {
        if (child + 1 < scratch->heap_count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_before(&heap[child], &last))
            break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return top;
}

/* Follows text[begin, end) from a node; NULL if it leaves the trie. */
static const spm_edge *walk(const spm_trie *trie, uint32_t node, const char *text, size_t begin,
                            size_t end)
{
    const spm_edge *edge = NULL;
    uint32_t character;
    while (begin < end) {
        begin += spm_character(text + begin, end - begin, &character);
        edge = spm_trie_step(trie, node, character);
        if (!edge)
            return NULL;
        node = edge->child;
    }
    return edge;
}

/* Cuts the text into characters and user-defined pieces. */
static bool split_symbols(const spm_model *model, const char *text, size_t size,
                          struct spm_scratch *scratch)
{
    scratch->symbol_count = 0;
    for (size_t begin = 0; begin < size;) {
        size_t i = scratch->symbol_count++;
        if (!base_grow((void **)&scratch->symbols, &scratch->symbol_capacity, i + 1,
                       sizeof *scratch->symbols))
            return false;
        uint32_t character;
        size_t fixed = spm_trie_longest(&model->user_defined, text + begin, size - begin);
        size_t end =
            begin + (fixed ? fixed : spm_character(text + begin, size - begin, &character));
        const spm_edge *edge = walk(&model->pieces, SPM_TRIE_ROOT, text, begin, end);
        scratch->symbols[i] = (spm_symbol){
            .begin = begin,
            .end = end,
            .previous = i ? i - 1 : SIZE_MAX,
            .next = end < size ? i + 1 : SIZE_MAX,
            .node = edge ? edge->child : NO_NODE,
            .fixed = fixed > 0,
            .id = edge ? edge->id : SPM_TRIE_NONE,
        };
        begin = end;
    }
    return true;
}

static bool remember_split(const spm_model *model, struct spm_scratch *scratch, int32_t id,
                           size_t left_length)
{
    size_t old = scratch->split_capacity;
    if (!base_grow((void **)&scratch->splits, &scratch->split_capacity, model->count,
                   sizeof *scratch->splits))
        return false;
    if (scratch->split_capacity > old)
        memset(scratch->splits + old, 0, (scratch->split_capacity - old) * sizeof *scratch->splits);
    if (!scratch->splits[id]) {
        if (!base_grow((void **)&scratch->met, &scratch->met_capacity, scratch->met_count + 1,
                       sizeof *scratch->met))
            return false;
        scratch->met[scratch->met_count++] = id;
    }
    scratch->splits[id] = (uint32_t)left_length;
    return true;
}

/* Puts two neighbours into the heap if together they are a piece. */
static bool consider(const spm_model *model, const char *text, struct spm_scratch *scratch,
                     size_t left, size_t right)
{
    if (left == SIZE_MAX || right == SIZE_MAX)
        return true;
    const spm_symbol *a = &scratch->symbols[left], *b = &scratch->symbols[right];
    if (a->fixed || b->fixed)
        return true;
    const spm_edge *edge = walk(&model->pieces, a->node, text, b->begin, b->end);
    if (!edge || edge->id == SPM_TRIE_NONE)
        return true;
    const spm_entry *entry = &model->entries[edge->id];
    if (entry->kind == SPM_UNUSED && !remember_split(model, scratch, edge->id, a->end - a->begin))
        return false;
    return push(scratch, &(spm_pair){entry->score, left, right, entry->length});
}

/* Merges a pair's right symbol into its left one. */
static bool merge(const spm_model *model, const char *text, struct spm_scratch *scratch,
                  const spm_pair *pair)
{
    spm_symbol *left = &scratch->symbols[pair->left], *right = &scratch->symbols[pair->right];
    if (left->begin == left->end || right->begin == right->end ||
        right->end - left->begin != pair->size)
        return true; /* stale */
    const spm_edge *edge = walk(&model->pieces, left->node, text, right->begin, right->end);
    left->node = edge->child;
    left->id = edge->id;
    left->end = right->end;
    left->next = right->next;
    if (right->next != SIZE_MAX)
        scratch->symbols[right->next].previous = pair->left;
    right->begin = right->end;
    return consider(model, text, scratch, left->previous, pair->left) &&
           consider(model, text, scratch, pair->left, left->next);
}

static bool emit(const spm_model *model, spm_encoding *encoding, int32_t id, size_t begin,
                 size_t end, int depth)
{
    const bool unused = id != SPM_TRIE_NONE && model->entries[id].kind == SPM_UNUSED;
    if (unused && depth <= MAX_DEPTH && encoding->scratch->met_count &&
        encoding->scratch->splits[id]) {
        const char *text = encoding->normal.data;
        const size_t middle = begin + encoding->scratch->splits[id];
        const spm_edge *left = walk(&model->pieces, SPM_TRIE_ROOT, text, begin, middle);
        const spm_edge *right = walk(&model->pieces, SPM_TRIE_ROOT, text, middle, end);
        return emit(model, encoding, left ? left->id : SPM_TRIE_NONE, begin, middle, depth + 1) &&
               emit(model, encoding, right ? right->id : SPM_TRIE_NONE, middle, end, depth + 1);
    }
    if (id == SPM_TRIE_NONE || (unused && depth <= MAX_DEPTH))
        id = model->unknown_id;
    return spm_emit(model, encoding, id, begin, end);
}

static void forget_splits(struct spm_scratch *scratch)
{
    for (size_t i = 0; i < scratch->met_count; i++)
        scratch->splits[scratch->met[i]] = 0;
    scratch->met_count = 0;
}

static bool segment(const spm_model *model, spm_encoding *encoding)
{
    struct spm_scratch *scratch = encoding->scratch;
    const char *text = encoding->normal.data;
    scratch->heap_count = 0;
    if (!split_symbols(model, text, encoding->normal.length, scratch))
        return false;
    for (size_t i = 1; i < scratch->symbol_count; i++)
        if (!consider(model, text, scratch, i - 1, i))
            return false;
    while (scratch->heap_count) {
        spm_pair pair = pop(scratch);
        if (!merge(model, text, scratch, &pair))
            return false;
    }
    for (size_t i = 0; i != SIZE_MAX && i < scratch->symbol_count; i = scratch->symbols[i].next) {
        const spm_symbol *symbol = &scratch->symbols[i];
        if (!emit(model, encoding, symbol->id, symbol->begin, symbol->end, 0))
            return false;
    }
    return true;
}

bool spm_segment_bpe(const spm_model *model, spm_encoding *encoding)
{
    bool done = segment(model, encoding);
    forget_splits(encoding->scratch);
    return done;
}
