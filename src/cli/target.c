#include "cli/target.h"

#include "cli/input.h"
#include "cli/progress.h"
#include "cli/signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

cli_target *cli_target_create(cli_run *run, cli_file *file, cli_writer *standard)
{
    cli_target *target = calloc(1, sizeof *target);
    if (!target) {
        cli_error("out of memory");
        return NULL;
    }
    target->run = run;
    target->file = file;
    target->writer = standard;
    return target;
}

const char *cli_target_name(const cli_target *target)
{
    if (!target->file)
        return target->run->options->operand_count ? "argument" : "standard input";
    return cli_input_is_standard(target->file->input) ? "standard input" : target->file->input;
}

/* The file is created late, so that a window of many small files does not need as many
 * descriptors. */
static bool open_writer(cli_target *target)
{
    if (target->writer)
        return true;
    if (!cli_writer_file(&target->own, target->file->output)) {
        cli_error("%s: %s", target->file->output, cli_writer_reason(errno));
        target->failed = true;
        return false;
    }
    target->writer = &target->own;
    return true;
}

void cli_target_put(cli_target *target, const char *bytes, size_t length)
{
    if (!target->failed && open_writer(target))
        cli_writer_put(target->writer, bytes, length);
}

void cli_target_flush(cli_target *target)
{
    if (target->writer && !cli_writer_flush(target->writer))
        target->failed = true;
}

static void count(cli_target *target)
{
    cli_run *run = target->run;
    if (!target->file)
        return;
    /* A signal is no failure: the file waits for another run. */
    if (!target->failed)
        target->file->state = CLI_FILE_DONE;
    else if (!cli_signals_caught())
        target->file->state = CLI_FILE_FAILED;
    pthread_mutex_lock(&run->lock);
    run->counts.files_done += target->file->state == CLI_FILE_DONE;
    run->counts.files_failed += target->file->state == CLI_FILE_FAILED;
    cli_progress_show(run);
    pthread_mutex_unlock(&run->lock);
}

bool cli_target_finish(cli_target *target)
{
    if (!target->failed) /* an empty file has put nothing yet */
        open_writer(target);
    if (target->writer == &target->own && !cli_writer_close(&target->own, !target->failed)) {
        cli_error("%s: %s", target->file->output, strerror(target->own.failure));
        target->failed = true;
    }
    count(target);
    bool done = !target->failed;
    free(target);
    return done;
}
