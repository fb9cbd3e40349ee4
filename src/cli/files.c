/* zhen -i FILE... and zhen -o OUT FILE... */
#include "cli/run.h"
#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_directory(const char *path)
{
    struct stat status;
    return !stat(path, &status) && S_ISDIR(status.st_mode);
}

static bool is_standard_input(const char *name)
{
    return !strcmp(name, "-");
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int open_input(const char *name)
{
    if (is_standard_input(name))
        return STDIN_FILENO;
    if (is_directory(name)) {
        errno = EISDIR;
        return -1;
    }
    return open(name, O_RDONLY | O_CLOEXEC);
}

/* One file to one writer; false after an error, which is printed. */
static bool translate_file(cli_run *run, const char *name, cli_writer *writer)
{
    int descriptor = open_input(name);
    if (descriptor < 0) {
        cli_error("%s: %s", name, strerror(errno));
        return false;
    }
    cli_lines lines;
    cli_lines_start(&lines, descriptor);
    bool whole = cli_run_lines(run, &lines, name, writer);
    cli_lines_free(&lines);
    if (descriptor != STDIN_FILENO)
        close(descriptor);
    return whole;
}

static bool file_to_file(cli_run *run, const char *name, const char *path)
{
    cli_writer writer;
    if (!cli_writer_file(&writer, path)) {
        cli_error("%s: %s", path, strerror(errno));
        return false;
    }
    bool whole = translate_file(run, name, &writer);
    bool written = cli_writer_close(&writer, whole);
    if (!written)
        cli_error("%s: %s", path, strerror(writer.failure));
    return whole && written;
}

static bool file_to_directory(cli_run *run, const char *name, const char *directory)
{
    char *path;
    const char *base = is_standard_input(name) ? "stdin.txt" : base_name(name);
    if (asprintf(&path, "%s/%s", directory, base) < 0) {
        cli_error("out of memory");
        return false;
    }
    bool done = file_to_file(run, name, path);
    free(path);
    return done;
}

/* Two files of one name would overwrite each other in the output directory. */
static bool names_differ(const cli_options *options)
{
    for (size_t i = 0; i < options->operand_count; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(base_name(options->operands[i]), base_name(options->operands[j]))) {
                cli_error("'%s' and '%s' would both become '%s/%s'", options->operands[j],
                          options->operands[i], options->output, base_name(options->operands[i]));
                return false;
            }
    return true;
}

static bool wants_directory(const cli_options *options)
{
    size_t length = strlen(options->output);
    return options->operand_count > 1 || is_directory(options->output) ||
           (length && options->output[length - 1] == '/');
}

static cli_exit files_to_directory(cli_run *run)
{
    const cli_options *options = run->options;
    if (!names_differ(options))
        return CLI_USAGE;
    if (mkdir(options->output, 0777) && errno != EEXIST) {
        cli_error("%s: %s", options->output, strerror(errno));
        return CLI_FAILED;
    }
    cli_exit code = CLI_DONE;
    for (size_t i = 0; i < options->operand_count && !cli_signals_caught(); i++)
        if (!file_to_directory(run, options->operands[i], options->output))
            code = CLI_FAILED;
    return code;
}

static cli_exit files_to_standard_output(cli_run *run)
{
    cli_writer writer;
    cli_writer_standard(&writer);
    cli_exit code = CLI_DONE;
    for (size_t i = 0; i < run->options->operand_count && !writer.failure; i++)
        if (!cli_signals_caught() && !translate_file(run, run->options->operands[i], &writer))
            code = CLI_FAILED;
    if (cli_writer_close(&writer, true))
        return code;
    if (writer.failure != EPIPE)
        cli_error("standard output: %s", strerror(writer.failure));
    return CLI_FAILED;
}

cli_exit cli_run_files(cli_run *run)
{
    const cli_options *options = run->options;
    if (!options->output)
        return files_to_standard_output(run);
    if (wants_directory(options))
        return files_to_directory(run);
    return file_to_file(run, options->operands[0], options->output) ? CLI_DONE : CLI_FAILED;
}
