#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: zhen [OPTION]... TEXT...           translate the arguments\n"
    "       zhen [OPTION]...                   translate standard input line by line\n"
    "       zhen [OPTION]... -i FILE...        translate files to standard output\n"
    "       zhen [OPTION]... -o OUT FILE...    translate files to a file or directory\n"
    "       zhen info [DIR]                    say what a model is\n"
    "       zhen quantize IN_DIR OUT_DIR       write the int8 form of a model\n"
    "Translate Chinese to English, offline.\n"
    "\n"
    "  -i, --input               the arguments are files, not text\n"
    "  -o, --output=PATH         write to this file or directory (implies -i)\n"
    "  -m, --model=DIR           model directory (default: $ZHEN_MODEL or the installed one)\n"
    "  -b, --beam=N              beam size (default: the model's)\n"
    "      --greedy              same as --beam=1: fastest\n"
    "  -n, --nbest=N             print the N best translations: line, rank, score, text\n"
    "      --json                print one JSON object per line, with scores and sentences\n"
    "      --bilingual           print source and translation, separated by a tab\n"
    "  -t, --threads=N           worker threads (default: one per physical core)\n"
    "      --length-penalty=X    above 1 prefers longer translations, below 1 shorter\n"
    "      --max-length=N        at most N pieces per translated sentence\n"
    "      --no-guard            do not break off endless repetition\n"
    "  -q, --quiet               no notes and no progress on standard error\n"
    "  -v, --verbose             a summary of speed on standard error\n"
    "  -V, --version             print the version\n"
    "  -h, --help                print this help\n"
    "\n"
    "Examples:\n"
    "  zhen 我爱水课。                     zhen < in.txt > out.txt\n"
    "  zhen -n 3 你好,世界!                xz -dc news.xz | zhen --greedy | less\n"
    "  zhen --json < in.txt | jq .score    zhen -o translated/ *.txt\n";

enum {
    OPTION_GREEDY = 256,
    OPTION_JSON,
    OPTION_BILINGUAL,
    OPTION_LENGTH_PENALTY,
    OPTION_MAX_LENGTH,
    OPTION_NO_GUARD
};

static const struct option long_options[] = {
    {"input", no_argument, NULL, 'i'},
    {"output", required_argument, NULL, 'o'},
    {"model", required_argument, NULL, 'm'},
    {"beam", required_argument, NULL, 'b'},
    {"greedy", no_argument, NULL, OPTION_GREEDY},
    {"nbest", required_argument, NULL, 'n'},
    {"json", no_argument, NULL, OPTION_JSON},
    {"bilingual", no_argument, NULL, OPTION_BILINGUAL},
    {"threads", required_argument, NULL, 't'},
    {"length-penalty", required_argument, NULL, OPTION_LENGTH_PENALTY},
    {"max-length", required_argument, NULL, OPTION_MAX_LENGTH},
    {"no-guard", no_argument, NULL, OPTION_NO_GUARD},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Larger beams cost memory and time and translate worse. */
enum { BEAM_MAX = 32, THREADS_MAX = 1024, LENGTH_MAX = 1000000 };

void cli_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("zhen: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static bool parse_count(const char *option, const char *text, unsigned max, unsigned *value)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno || *end || end == text || strchr(text, '-') || number < 1 || number > max) {
        cli_error("%s: '%s' is not a whole number from 1 to %u", option, text, max);
        return false;
    }
    *value = (unsigned)number;
    return true;
}

static bool parse_real(const char *option, const char *text, double *value)
{
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    if (errno || *end || end == text || !isfinite(number) || fabs(number) > 100) {
        cli_error("%s: '%s' is not a number from -100 to 100", option, text);
        return false;
    }
    *value = number;
    return true;
}

static bool parse_size(const char *option, const char *text, size_t *value)
{
    unsigned number;
    if (!parse_count(option, text, LENGTH_MAX, &number))
        return false;
    *value = number;
    return true;
}

/* The styles exclude one another. */
static bool set_style(cli_options *options, cli_style style)
{
    if (options->style != CLI_PLAIN && options->style != style) {
        cli_error("--json, --bilingual and --nbest above 1 cannot be combined"
                  " (--json lists the n best by itself with -n)");
        return false;
    }
    options->style = style;
    return true;
}

static bool set_beam(cli_options *options, const char *option, const char *text)
{
    options->has_beam = true;
    return parse_count(option, text, BEAM_MAX, &options->beam);
}

static bool set_option(cli_options *options, int option)
{
    switch (option) {
    case 'i':
        options->files = true;
        return true;
    case 'o':
        options->files = true;
        options->output = optarg;
        return true;
    case 'm':
        options->model = optarg;
        return true;
    case 'b':
        return set_beam(options, "--beam", optarg);
    case OPTION_GREEDY:
        return set_beam(options, "--greedy", "1");
    case 'n':
        return parse_count("--nbest", optarg, BEAM_MAX, &options->nbest);
    case OPTION_JSON:
        return set_style(options, CLI_JSON);
    case OPTION_BILINGUAL:
        return set_style(options, CLI_BILINGUAL);
    case 't':
        return parse_count("--threads", optarg, THREADS_MAX, &options->threads);
    case OPTION_LENGTH_PENALTY:
        options->has_length_penalty = true;
        return parse_real("--length-penalty", optarg, &options->length_penalty);
    case OPTION_MAX_LENGTH:
        return parse_size("--max-length", optarg, &options->max_length);
    case OPTION_NO_GUARD:
        options->guard = false;
        return true;
    case 'q':
        options->quiet = true;
        return true;
    case 'v':
        options->verbose = true;
        return true;
    default:
        return false; /* getopt_long has said what is wrong */
    }
}

/* What can only be judged when all options are known. */
static bool check(cli_options *options)
{
    if (options->nbest > 1 && options->has_beam && options->nbest > options->beam) {
        cli_error("--nbest=%u needs a beam at least as large, not %u", options->nbest,
                  options->beam);
        return false;
    }
    if (options->nbest > 1 && options->style != CLI_JSON && !set_style(options, CLI_NBEST))
        return false;
    if (options->files && options->operand_count == 0) {
        cli_error("no files given (see zhen --help)");
        return false;
    }
    return true;
}

bool cli_options_parse(int argc, char **argv, cli_options *options, cli_exit *code)
{
    *options = (cli_options){.nbest = 1, .guard = true};
    *code = CLI_USAGE;
    argv[0] = "zhen"; /* for getopt_long's messages */
    for (int option;
         (option = getopt_long(argc, argv, "io:m:b:n:t:qvVh", long_options, NULL)) >= 0;) {
        if (option == 'h' || option == 'V') {
            *code = CLI_DONE;
            if (option == 'h')
                fputs(help, stdout);
            else
                printf("zhen %s\n", zhen_version());
            return false;
        }
        if (!set_option(options, option)) {
            if (option == '?')
                fputs("Try 'zhen --help'.\n", stderr);
            return false;
        }
    }
    options->operands = argv + optind;
    options->operand_count = (size_t)(argc - optind);
    return check(options);
}
