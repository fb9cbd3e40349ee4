#include "cli/list.h"

#include "cli/grow.h"
#include "cli/input.h"
#include "cli/partial.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_directory(const char *path)
{
    struct stat status;
    return !stat(path, &status) && S_ISDIR(status.st_mode);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

zhen_format cli_list_format(const cli_options *options, const char *input)
{
    zhen_format format = options->document.format;
    if (!options->has_format)
        zhen_format_from_path(input, &format);
    return format;
}

/* Takes over `output`. */
static bool add(cli_list *list, const char *input, char *output)
{
    if (!cli_grow((void **)&list->files, &list->capacity, list->count + 1, sizeof *list->files)) {
        free(output);
        return false;
    }
    struct stat status;
    bool known = !cli_input_is_standard(input) && !stat(input, &status) && S_ISREG(status.st_mode);
    cli_file *file = &list->files[list->count++];
    *file = (cli_file){strdup(input), output, known ? (double)status.st_size : 0, CLI_WAITING};
    return file->input != NULL;
}

/* directory/name, or NULL when memory runs out. */
static char *join(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    const char *separator = length && directory[length - 1] == '/' ? "" : "/";
    char *path;
    return asprintf(&path, "%s%s%s", directory, separator, name) < 0 ? NULL : path;
}

static bool add_to_directory(cli_list *list, const char *input, const char *directory,
                             const char *name)
{
    char *output = join(directory, name);
    return output && add(list, input, output);
}

static bool make_directory(const char *path)
{
    if (!mkdir(path, 0777) || (errno == EEXIST && is_directory(path)))
        return true;
    cli_error("%s: %s", path, strerror(errno == EEXIST ? ENOTDIR : errno));
    return false;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A walk through a directory for -r. */
typedef struct list_walk {
    const cli_options *options;
    cli_list *list;
    size_t root;                /* length of the path of the operand, with a slash */
    char output_real[PATH_MAX]; /* of the output directory: not walked into */
} list_walk;

/* A directory below an operand is imitated below the output directory. */
static bool walk_directory(const list_walk *walk, FTS *tree, FTSENT *entry)
{
    char real[PATH_MAX];
    if (entry->fts_level > 0 && entry->fts_name[0] == '.') {
        fts_set(tree, entry, FTS_SKIP);
        return true;
    }
    if (entry->fts_level == 0) /* if this is the output directory: in place */
        return true;
    if (realpath(entry->fts_path, real) && !strcmp(real, walk->output_real)) {
        fts_set(tree, entry, FTS_SKIP);
        return true;
    }
    char *path = join(walk->options->output, entry->fts_path + walk->root);
    bool made = path && make_directory(path);
    free(path);
    return made;
}

/* Files of formats that zhen does not know are no documents: pictures, programs. */
static bool walk_file(const list_walk *walk, const FTSENT *entry)
{
    zhen_format format;
    if (entry->fts_name[0] == '.' ||
        (!walk->options->has_format && !zhen_format_from_path(entry->fts_path, &format)))
        return true;
    return add_to_directory(walk->list, entry->fts_path, walk->options->output,
                            entry->fts_path + walk->root);
}

static bool walk_entry(const list_walk *walk, FTS *tree, FTSENT *entry)
{
    switch (entry->fts_info) {
    case FTS_D:
        return walk_directory(walk, tree, entry);
    case FTS_F:
        return walk_file(walk, entry);
    case FTS_SL: /* a link to a file counts, one to a directory could lead in circles */
        return is_directory(entry->fts_accpath) || walk_file(walk, entry);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        cli_error("%s: %s", entry->fts_path, strerror(entry->fts_errno));
        walk->list->incomplete = true;
        return true;
    default:
        return true;
    }
}

static bool add_tree(const cli_options *options, cli_list *list, char *operand)
{
    list_walk walk = {.options = options, .list = list};
    size_t length = strlen(operand);
    while (length > 1 && operand[length - 1] == '/')
        operand[--length] = '\0';
    walk.root = length + (operand[length - 1] != '/');
    if (!realpath(options->output, walk.output_real))
        walk.output_real[0] = '\0';
    int how = FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR; /* the operand itself may be a link */
    FTS *tree = fts_open((char *[]){operand, NULL}, how, by_name);
    bool good = tree != NULL;
    for (FTSENT *entry; good && (entry = fts_read(tree));)
        good = walk_entry(&walk, tree, entry);
    if (tree)
        fts_close(tree);
    return good;
}

static int by_output(const void *a, const void *b)
{
    return strcmp((*(cli_file *const *)a)->output, (*(cli_file *const *)b)->output);
}

/* Two files of one name would overwrite each other in the output directory. */
static bool outputs_differ(const cli_list *list)
{
    cli_file **sorted = reallocarray(NULL, list->count + 1, sizeof *sorted);
    if (!sorted) {
        cli_error("out of memory");
        return false;
    }
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->files[i];
    qsort(sorted, list->count, sizeof *sorted, by_output);
    bool differ = true;
    for (size_t i = 1; i < list->count && differ; i++)
        if (!strcmp(sorted[i - 1]->output, sorted[i]->output)) {
            cli_error("'%s' and '%s' would both become '%s'", sorted[i - 1]->input,
                      sorted[i]->input, sorted[i]->output);
            differ = false;
        }
    free(sorted);
    return differ;
}

static bool replaces_input(const cli_file *file)
{
    struct stat input, output;
    return file->output && !cli_input_is_standard(file->input) && !stat(file->input, &input) &&
           !stat(file->output, &output) && cli_same_file(&input, &output);
}

/* The first file whose output replaces it, or NULL. */
static const cli_file *find_in_place(const cli_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (replaces_input(&list->files[i]))
            return &list->files[i];
    return NULL;
}

/* A file that was translated in place cannot be told from one that was not. */
static bool can_resume(const cli_file *in_place)
{
    if (in_place)
        cli_error("--resume: '%s' would replace its input: whether that is done cannot be seen",
                  in_place->output);
    return !in_place;
}

static bool wants_directory(const cli_options *options)
{
    size_t length = strlen(options->output);
    return options->operand_count > 1 || options->recursive || is_directory(options->output) ||
           (length && options->output[length - 1] == '/');
}

static bool add_operand(const cli_options *options, cli_list *list, char *operand, bool directory)
{
    if (!options->output)
        return add(list, operand, NULL);
    if (!directory) {
        char *output = strdup(options->output);
        return output && add(list, operand, output);
    }
    if (options->recursive && is_directory(operand))
        return add_tree(options, list, operand);
    const char *name = cli_input_is_standard(operand) ? "stdin.txt" : base_name(operand);
    return add_to_directory(list, operand, options->output, name);
}

cli_exit cli_list_make(const cli_options *options, cli_list *list)
{
    *list = (cli_list){0};
    bool directory = options->output && wants_directory(options);
    if (directory && !make_directory(options->output))
        return CLI_FAILED;
    for (size_t i = 0; i < options->operand_count; i++)
        if (!add_operand(options, list, options->operands[i], directory)) {
            cli_error("%s: cannot be listed", options->operands[i]);
            return CLI_FAILED;
        }
    const cli_file *in_place = find_in_place(list);
    list->in_place = in_place != NULL;
    if ((directory && !outputs_differ(list)) || (options->resume && !can_resume(in_place)))
        return CLI_USAGE;
    return CLI_DONE;
}

void cli_list_free(cli_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->files[i].input);
        free(list->files[i].output);
    }
    free(list->files);
}
