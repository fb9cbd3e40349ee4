#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char help[] =
    "Usage: zhen [OPTION]... TEXT...           translate the arguments\n"
    "       zhen [OPTION]...                   translate standard input\n"
    "       zhen [OPTION]... -i FILE...        translate files to standard output\n"
    "       zhen [OPTION]... -o OUT FILE...    translate files to a file or directory\n"
    "       zhen info [DIR]                    say what a model is\n"
    "       zhen quantize IN_DIR OUT_DIR       write the int8 form of a model\n"
    "Translate Chinese to English, offline.\n"
    "\n"
    "  -i, --input               the arguments are files, not text; - is standard input\n"
    "  -o, --output=PATH         write to this file or directory (implies -i)\n"
    "  -r, --recursive           translate the files in directories too (implies -i)\n"
    "  -f, --format=NAME         text, markdown, html, xhtml, srt, vtt, po, json, jsonl, csv, "
    "tsv,\n"
    "                            xliff (default: by the file's extension, else text)\n"
    "      --encoding=NAME       of the input: UTF-8, UTF-16, GB18030, Big5 (default: detected)\n"
    "      --paragraphs          text: join hard-wrapped lines into paragraphs\n"
    "      --column=LIST         csv, tsv: translate these columns (names or numbers)\n"
    "      --json-path=LIST      json, jsonl: translate these strings ($.items[*].title)\n"
    "      --bilingual[=tsv]     source TAB translation; =interleaved: both, one after the other\n"
    "      --json                a JSON object for each line, with scores and sentences\n"
    "  -n, --nbest=N             the N best translations of each line: line, rank, score, text\n"
    "      --resume              skip files whose output is there already\n"
    "      --jobs=N              translate N files at a time\n"
    "      --fail-fast           stop at the first file that fails (default: --keep-going)\n"
    "  -m, --model=DIR           model directory (default: $ZHEN_MODEL or the installed one)\n"
    "  -b, --beam=N              beam size (default: the model's); --greedy is --beam=1: fastest\n"
    "      --length-penalty=X    above 1 prefers longer translations, below 1 shorter\n"
    "      --max-length=N        at most N pieces per translated sentence\n"
    "      --no-guard            do not mend repetition and lost names\n"
    "  -t, --threads=N           worker threads (default: one per physical core)\n"
    "  -q, --quiet               errors only: no notes, no progress; -v, --verbose: a summary\n"
    "  -h, --help                print this help; -V, --version: print the version\n"
    "\n"
    "Examples:\n"
    "  zhen 我爱水课。                       zhen < in.txt > out.txt\n"
    "  zhen -n 3 你好,世界!                  zhen --json < in.txt | jq .score\n"
    "  zhen -o page.en.html page.html        zhen -r -o english/ --resume manual/\n";

enum {
    OPTION_GREEDY = 256,
    OPTION_JSON,
    OPTION_BILINGUAL,
    OPTION_LENGTH_PENALTY,
    OPTION_MAX_LENGTH,
    OPTION_NO_GUARD,
    OPTION_ENCODING,
    OPTION_PARAGRAPHS,
    OPTION_COLUMN,
    OPTION_JSON_PATH,
    OPTION_RESUME,
    OPTION_JOBS,
    OPTION_KEEP_GOING,
    OPTION_FAIL_FAST
};

static const struct option long_options[] = {
    {"input", no_argument, NULL, 'i'},
    {"output", required_argument, NULL, 'o'},
    {"recursive", no_argument, NULL, 'r'},
    {"format", required_argument, NULL, 'f'},
    {"encoding", required_argument, NULL, OPTION_ENCODING},
    {"paragraphs", no_argument, NULL, OPTION_PARAGRAPHS},
    {"column", required_argument, NULL, OPTION_COLUMN},
    {"json-path", required_argument, NULL, OPTION_JSON_PATH},
    {"bilingual", optional_argument, NULL, OPTION_BILINGUAL},
    {"json", no_argument, NULL, OPTION_JSON},
    {"nbest", required_argument, NULL, 'n'},
    {"resume", no_argument, NULL, OPTION_RESUME},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"keep-going", no_argument, NULL, OPTION_KEEP_GOING},
    {"fail-fast", no_argument, NULL, OPTION_FAIL_FAST},
    {"model", required_argument, NULL, 'm'},
    {"beam", required_argument, NULL, 'b'},
    {"greedy", no_argument, NULL, OPTION_GREEDY},
    {"length-penalty", required_argument, NULL, OPTION_LENGTH_PENALTY},
    {"max-length", required_argument, NULL, OPTION_MAX_LENGTH},
    {"no-guard", no_argument, NULL, OPTION_NO_GUARD},
    {"threads", required_argument, NULL, 't'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Larger beams cost memory and time and translate worse. */
enum { BEAM_MAX = 24, THREADS_MAX = 1024, JOBS_MAX = 256, LENGTH_MAX = 1000000 };

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
    if (options->style != CLI_DOCUMENT && options->style != style) {
        cli_error("--json, --bilingual and --nbest above 1 cannot be combined"
                  " (--json lists the n best by itself with -n)");
        return false;
    }
    options->style = style;
    return true;
}

static bool set_bilingual(cli_options *options, const char *how)
{
    options->interleaved = how && !strcmp(how, "interleaved");
    if (how && !options->interleaved && strcmp(how, "tsv")) {
        cli_error("--bilingual: '%s' is neither tsv nor interleaved", how);
        return false;
    }
    options->document.bilingual =
        options->interleaved ? ZHEN_BILINGUAL_INTERLEAVED : ZHEN_BILINGUAL_TSV;
    return true;
}

static bool set_format(cli_options *options, const char *name)
{
    options->has_format = true;
    if (zhen_format_from_name(name, &options->document.format))
        return true;
    cli_error("--format: '%s' is not a format that zhen knows (see zhen --help)", name);
    return false;
}

static bool set_beam(cli_options *options, const char *option, const char *text)
{
    options->has_beam = true;
    return parse_count(option, text, BEAM_MAX, &options->beam);
}

/* Options that say where text comes from, goes to and what it is. */
static bool set_file_option(cli_options *options, int option)
{
    switch (option) {
    case 'o':
        options->output = strcmp(optarg, "-") != 0 ? optarg : NULL; /* -: standard output */
        options->files = true;
        return true;
    case 'r':
        options->recursive = true;
        options->files = true;
        return true;
    case 'f':
        return set_format(options, optarg);
    case OPTION_ENCODING:
        options->document.encoding = optarg;
        return true;
    case OPTION_PARAGRAPHS:
        options->document.paragraphs = true;
        return true;
    case OPTION_COLUMN:
        options->document.columns = optarg;
        return true;
    case OPTION_JSON_PATH:
        options->document.json_path = optarg;
        return true;
    case OPTION_BILINGUAL:
        return set_bilingual(options, optarg);
    case OPTION_JSON:
        return set_style(options, CLI_JSON);
    case OPTION_JOBS:
        return parse_count("--jobs", optarg, JOBS_MAX, &options->jobs);
    default:
        return false; /* getopt_long has said what is wrong */
    }
}

/* Options that say how to translate, and the flags. */
static bool set_option(cli_options *options, int option)
{
    switch (option) {
    case 'i':
        options->files = true;
        return true;
    case OPTION_RESUME:
        options->resume = true;
        return true;
    case OPTION_KEEP_GOING:
        options->stop_at_failure = false;
        return true;
    case OPTION_FAIL_FAST:
        options->stop_at_failure = true;
        return true;
    case OPTION_NO_GUARD:
        options->guard = false;
        return true;
    case 'q':
        options->quiet = true;
        return true;
    case 'v':
        options->verbose = true;
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
    case 't':
        return parse_count("--threads", optarg, THREADS_MAX, &options->threads);
    case OPTION_LENGTH_PENALTY:
        options->has_length_penalty = true;
        return parse_real("--length-penalty", optarg, &options->length_penalty);
    case OPTION_MAX_LENGTH:
        return parse_size("--max-length", optarg, &options->max_length);
    default:
        return set_file_option(options, option);
    }
}

/* Styles that write a record for each line leave no room for other formats than text. */
static bool check_style(cli_options *options)
{
    bool is_text = !options->has_format || options->document.format == ZHEN_FORMAT_TEXT;
    if (options->document.bilingual == ZHEN_BILINGUAL_TSV && is_text &&
        !options->document.paragraphs && !set_style(options, CLI_PAIRS))
        return false;
    if (options->nbest > 1 && options->style != CLI_JSON && !set_style(options, CLI_NBEST))
        return false;
    if (options->style == CLI_DOCUMENT || options->style == CLI_PAIRS)
        return true;
    if (is_text && !options->document.paragraphs && !options->document.bilingual)
        return true;
    cli_error("--json and --nbest work line by line, on text");
    return false;
}

/* Whether all that is read has this format or none: files without --format have their own. */
static bool may_be(const cli_options *options, zhen_format format)
{
    if (options->files && !options->has_format)
        return true;
    return options->document.format == format;
}

/* An option that no input can heed would leave its user with a wrong result and no word about it.
 */
static bool check_formats(const cli_options *options)
{
    const zhen_document_options *document = &options->document;
    const char *wrong = NULL;
    if (document->columns && !may_be(options, ZHEN_FORMAT_CSV) && !may_be(options, ZHEN_FORMAT_TSV))
        wrong = "--column is for csv and tsv";
    else if (document->json_path && !may_be(options, ZHEN_FORMAT_JSON) &&
             !may_be(options, ZHEN_FORMAT_JSONL))
        wrong = "--json-path is for json and jsonl";
    else if (document->paragraphs && !may_be(options, ZHEN_FORMAT_TEXT))
        wrong = "--paragraphs is for text";
    if (wrong)
        cli_error("%s: name the format with -f, or a file with -i", wrong);
    return !wrong;
}

/* Arguments are UTF-8, whatever it says. */
static bool check_encoding(const cli_options *options)
{
    const char *encoding = options->document.encoding;
    bool texts = !options->files && options->operand_count > 0;
    bool wrong = texts && encoding && strcasecmp(encoding, "UTF-8") != 0;
    if (wrong)
        cli_error("--encoding is for files and standard input; arguments are UTF-8");
    return !wrong;
}

/* What can only be judged when all options are known. */
static bool check(cli_options *options)
{
    if (options->nbest > 1 && options->has_beam && options->nbest > options->beam) {
        cli_error("--nbest=%u needs a beam at least as large, not %u", options->nbest,
                  options->beam);
        return false;
    }
    if (options->files && options->operand_count == 0) {
        cli_error("no files given (see zhen --help)");
        return false;
    }
    if ((options->resume || options->recursive || options->jobs > 1) && !options->output) {
        cli_error("%s needs an output directory: -o DIR", options->resume      ? "--resume"
                                                          : options->recursive ? "--recursive"
                                                                               : "--jobs");
        return false;
    }
    return check_encoding(options) && check_formats(options) && check_style(options);
}

/* --help and --version; false if `option` is neither. */
static bool answer(int option)
{
    if (option == 'h')
        fputs(help, stdout);
    else if (option == 'V')
        printf("zhen %s\n", zhen_version());
    return option == 'h' || option == 'V';
}

bool cli_options_parse(int argc, char **argv, cli_options *options, cli_exit *code)
{
    *options = (cli_options){.nbest = 1, .jobs = 1, .guard = true};
    zhen_document_options_init(&options->document, ZHEN_FORMAT_TEXT);
    *code = CLI_USAGE;
    argv[0] = "zhen"; /* for getopt_long's messages */
    for (;;) {
        int option = getopt_long(argc, argv, "io:rf:m:b:n:t:qvVh", long_options, NULL);
        if (option < 0)
            break;
        if (answer(option)) {
            *code = fflush(stdout) ? CLI_FAILED : CLI_DONE;
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
