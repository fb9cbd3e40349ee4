#include "cli/cli.h"
#include "cli/run.h"
#include "cli/signals.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A standard stream that the caller closed would be the number of the next file opened, and what is
 * read or written there would be something else altogether. So it is opened in the direction in
 * which it is not used: what needs it fails with "Bad file descriptor". */
static void fill_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 &&
            open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return; /* no /dev/null: as before */
}

static cli_exit translate(const cli_options *options)
{
    zhen_model *model = cli_model_open(options->model);
    if (!model)
        return CLI_MODEL;
    cli_run run;
    cli_run_start(&run, model, options);
    cli_exit code = options->files           ? cli_run_files(&run)
                    : options->operand_count ? cli_run_arguments(&run)
                                             : cli_run_standard_input(&run);
    cli_run_end(&run);
    zhen_model_close(model);
    cli_signals_die();
    return code;
}

int main(int argc, char **argv)
{
    fill_closed_streams();
    if (argc > 1 && !strcmp(argv[1], "info"))
        return cli_info(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "quantize"))
        return cli_quantize(argc, argv);
    cli_options options;
    cli_exit code;
    if (!cli_options_parse(argc, argv, &options, &code))
        return code;
    return translate(&options);
}
