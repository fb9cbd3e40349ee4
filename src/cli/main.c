#include "cli/cli.h"
#include "cli/run.h"
#include "cli/signals.h"

#include <string.h>

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
