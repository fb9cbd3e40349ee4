#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the default model lies, seen from the directory of the program: the same when installed
 * (bin/zhen, share/zhen/...) as in a build tree, which imitates that layout. */
static const char default_model[] = "/../share/zhen/models/zh-en";

static zhen_model *open_directory(const char *directory)
{
    zhen_error error;
    zhen_model *model = NULL;
    if (zhen_model_open(directory, &model, &error))
        cli_error("%s", error.message);
    return model;
}

/* The path of this program, allocated, or NULL. */
static char *program_path(void)
{
    enum { PATH_SIZE = 4096 };
    char *path = malloc(PATH_SIZE + sizeof default_model);
    ssize_t length = path ? readlink("/proc/self/exe", path, PATH_SIZE) : -1;
    if (length <= 0 || length == PATH_SIZE) {
        free(path);
        return NULL;
    }
    path[length] = '\0';
    return path;
}

zhen_model *cli_model_open(const char *directory)
{
    if (!directory)
        directory = getenv("ZHEN_MODEL");
    if (directory && *directory)
        return open_directory(directory);
    char *path = program_path();
    char *slash = path ? strrchr(path, '/') : NULL;
    if (!slash) {
        cli_error("cannot find out where the program lies: name a model with --model");
        free(path);
        return NULL;
    }
    memcpy(slash, default_model, sizeof default_model);
    zhen_model *model = open_directory(path);
    if (!model && access(path, F_OK))
        cli_error("this is the default model; name another with --model or ZHEN_MODEL");
    free(path);
    return model;
}

static void print_size(const char *name, double bytes)
{
    printf("%-20s %.1f MB\n", name, bytes / 1e6);
}

static void print_info(const zhen_model_info *info)
{
    printf("%-20s %s\n", "directory", info->directory);
    printf("%-20s %s (%s weights, %s)\n", "architecture", info->architecture, info->weight_type,
           info->activation);
    if (info->source_language && info->target_language)
        printf("%-20s %s to %s\n", "languages", info->source_language, info->target_language);
    printf("%-20s %zu\n", "d_model", info->d_model);
    printf("%-20s %zu layers, %zu heads, feed-forward %zu\n", "encoder", info->encoder_layers,
           info->encoder_heads, info->encoder_ffn);
    printf("%-20s %zu layers, %zu heads, feed-forward %zu\n", "decoder", info->decoder_layers,
           info->decoder_heads, info->decoder_ffn);
    printf("%-20s %zu source, %zu target pieces, %zu can be produced\n", "vocabulary",
           info->source_vocabulary, info->target_vocabulary, info->output_pieces);
    printf("%-20s %zu pieces\n", "longest sentence", info->max_positions);
    printf("%-20s %.2f M\n", "parameters", (double)info->parameters / 1e6);
    print_size("weights file", (double)info->file_bytes);
    print_size("memory", (double)info->memory_bytes);
    printf("%-20s %s\n", "licence", info->licence ? info->licence : "not stated");
}

cli_exit cli_info(int argc, char **argv)
{
    if (argc > 3 || (argc == 3 && argv[2][0] == '-')) {
        cli_error("usage: zhen info [DIR]");
        return CLI_USAGE;
    }
    zhen_model *model = cli_model_open(argc == 3 ? argv[2] : NULL);
    if (!model)
        return CLI_MODEL;
    zhen_model_info info;
    zhen_model_get_info(model, &info);
    print_info(&info);
    zhen_model_close(model);
    return fflush(stdout) || ferror(stdout) ? CLI_FAILED : CLI_DONE;
}

cli_exit cli_quantize(int argc, char **argv)
{
    if (argc != 4 || argv[2][0] == '-' || argv[3][0] == '-') {
        cli_error("usage: zhen quantize IN_DIR OUT_DIR");
        return CLI_USAGE;
    }
    zhen_error error;
    if (!zhen_model_quantize(argv[2], argv[3], &error))
        return CLI_DONE;
    cli_error("%s", error.message);
    return CLI_MODEL;
}
