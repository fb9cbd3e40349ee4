#include "tokenizer/added.h"

#include "base/error.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

typedef struct vocabularies {
    const tok_vocabulary *source, *target;
} vocabularies;

cJSON *tok_added_parse(const char *path)
{
    base_map file;
    if (base_map_open(path, &file, NULL))
        return NULL;
    cJSON *root = cJSON_ParseWithLength((const char *)file.bytes, file.size);
    base_map_close(&file);
    return root;
}

static zhen_status check(const vocabularies *known, const char *text, double id, const char *path,
                         zhen_error *error)
{
    const size_t length = strlen(text);
    const double source = tok_vocabulary_find(known->source, text, length);
    const double target = tok_vocabulary_find(known->target, text, length);
    if ((source >= id && source <= id) || (target >= id && target <= id))
        return ZHEN_OK;
    return base_fail(error, ZHEN_ERROR_UNSUPPORTED,
                     "%s: \"%.40s\" was added to the vocabulary: added tokens are not supported",
                     path, text);
}

/* {"44": {"content": "..."}} */
static zhen_status check_decoder(const vocabularies *known, const cJSON *decoder, const char *path,
                                 zhen_error *error)
{
    zhen_status status = ZHEN_OK;
    const cJSON *item = cJSON_IsObject(decoder) ? decoder->child : NULL;
    for (; item && !status; item = item->next) {
        const cJSON *content = cJSON_GetObjectItemCaseSensitive(item, "content");
        if (cJSON_IsString(content))
            status = check(known, content->valuestring, strtod(item->string, NULL), path, error);
    }
    return status;
}

/* {"...": 44} */
static zhen_status check_list(const vocabularies *known, const cJSON *list, const char *path,
                              zhen_error *error)
{
    zhen_status status = ZHEN_OK;
    const cJSON *item = cJSON_IsObject(list) ? list->child : NULL;
    for (; item && !status; item = item->next)
        if (cJSON_IsNumber(item))
            status = check(known, item->string, item->valuedouble, path, error);
    return status;
}

zhen_status tok_added_check(const cJSON *config, const char *config_path, const char *added_path,
                            const tok_vocabulary *source, const tok_vocabulary *target,
                            zhen_error *error)
{
    const vocabularies known = {source, target};
    const cJSON *decoder = cJSON_GetObjectItemCaseSensitive(config, "added_tokens_decoder");
    zhen_status status = check_decoder(&known, decoder, config_path, error);
    if (status)
        return status;
    cJSON *list = tok_added_parse(added_path);
    status = check_list(&known, list, added_path, error);
    cJSON_Delete(list);
    return status;
}
