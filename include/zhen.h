/*
 * zhen: Chinese-to-English neural machine translation.
 *
 * The public interface of libzhen. A model is opened once and shared by any number of threads; a
 * translator holds the settings and the working memory and belongs to one thread at a time (it
 * starts worker threads of its own). The library never prints, never exits and keeps no global
 * state: every failure comes back as a zhen_status with a one-line message in a zhen_error. Only
 * OpenBLAS, which models with float weights need, is set to one thread for the whole process.
 *
 *     zhen_error error;
 *     zhen_model *model;
 *     if (zhen_model_open("models/zh-en", &model, &error)) { ... error.message ... }
 *     zhen_options options;
 *     zhen_options_init(&options, model);
 *     zhen_translator *translator;
 *     if (zhen_translator_create(model, &options, &translator, &error)) { ... }
 *     zhen_text text = {"我爱水课。", strlen("我爱水课。")};
 *     zhen_translations *done;
 *     if (zhen_translate(translator, &text, 1, &done, &error)) { ... }
 *     puts(zhen_translations_get(done, 0)->text);
 *     zhen_translations_free(done);
 *     zhen_translator_free(translator);
 *     zhen_model_close(model);
 *
 * All text is UTF-8 with an explicit length in bytes; invalid bytes in the input are read as
 * U+FFFD. Offsets are in bytes.
 */
#ifndef ZHEN_H
#define ZHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZHEN_VERSION_MAJOR 0
#define ZHEN_VERSION_MINOR 1
#define ZHEN_VERSION_PATCH 0

#if defined(ZHEN_BUILDING)
#define ZHEN_API __attribute__((visibility("default")))
#else
#define ZHEN_API
#endif

/* The version of the library in use, e.g. "0.1.0"; never NULL, never freed. */
ZHEN_API const char *zhen_version(void);

/* ---- Errors ------------------------------------------------------------------------------- */

typedef enum zhen_status {
    ZHEN_OK = 0,
    ZHEN_ERROR_ARGUMENT,    /* the caller asked for something that makes no sense */
    ZHEN_ERROR_MEMORY,      /* no memory left */
    ZHEN_ERROR_IO,          /* a file cannot be opened, read, written or renamed */
    ZHEN_ERROR_FORMAT,      /* a file is not what it claims to be */
    ZHEN_ERROR_UNSUPPORTED, /* a valid file asks for something that this library cannot do */
    ZHEN_ERROR_CANCELLED    /* zhen_translator_cancel was called */
} zhen_status;

/* What went wrong, in one line without a newline: names the file, tensor, key, line or option.
 * Every function that takes a zhen_error accepts NULL for it; it is written on failure only. */
typedef struct zhen_error {
    zhen_status status;
    char message[512];
} zhen_error;

/* ---- Models ------------------------------------------------------------------------------- */

typedef struct zhen_model zhen_model;

/* Opens a model directory in the MarianMT layout of Hugging Face transformers: config.json,
 * generation_config.json, model.safetensors, vocab.json, source.spm, target.spm. Weights are
 * mapped, not copied, where their type allows. A second thread reads some of the files and is gone
 * when the call returns. The model is immutable: share it freely. */
ZHEN_API zhen_status zhen_model_open(const char *directory, zhen_model **model, zhen_error *error);

/* Closes a model; NULL is fine. Every translator made from it must be freed before. */
ZHEN_API void zhen_model_close(zhen_model *model);

/* What a model is. Strings belong to the model. */
typedef struct zhen_model_info {
    const char *directory;
    const char *architecture;                      /* "marian" */
    const char *activation;                        /* "relu", "swish", ... */
    const char *weight_type;                       /* "float32", "float16", "bfloat16", "int8" */
    const char *licence;                           /* from the model card's front matter, or NULL */
    const char *source_language, *target_language; /* from tokenizer_config.json, or NULL */
    size_t d_model;
    size_t encoder_layers, decoder_layers;
    size_t encoder_heads, decoder_heads;
    size_t encoder_ffn, decoder_ffn;
    size_t source_vocabulary, target_vocabulary; /* pieces */
    size_t output_pieces; /* pieces that can be produced: those not banned by final_logits_bias */
    size_t max_positions; /* longest sentence, in pieces with </s> */
    size_t parameters;
    size_t file_bytes;   /* size of model.safetensors */
    size_t memory_bytes; /* private memory of an open model, mapped files excluded */
} zhen_model_info;

ZHEN_API void zhen_model_get_info(const zhen_model *model, zhen_model_info *info);

/* Reads the model in in_directory and writes its int8 form to out_directory, which is created;
 * an existing model there is replaced only when the new one is complete. */
ZHEN_API zhen_status zhen_model_quantize(const char *in_directory, const char *out_directory,
                                         zhen_error *error);

/* ---- Translation --------------------------------------------------------------------------- */

typedef enum zhen_early_stopping {
    ZHEN_EARLY_STOPPING_FALSE, /* stop when no running hypothesis is likely to win any more */
    ZHEN_EARLY_STOPPING_TRUE,  /* stop at the first `beam` finished hypotheses */
    ZHEN_EARLY_STOPPING_NEVER  /* stop when no running hypothesis can win any more */
} zhen_early_stopping;

/* Settings of a translator. Call zhen_options_init first: it fills in the model's own defaults
 * (generation_config.json) and the number of physical cores; then change what you need. */
typedef struct zhen_options {
    unsigned threads;      /* worker threads, which also share a single sentence; 0: one for each
                              physical core */
    unsigned beam;         /* hypotheses kept at each step; 1 is greedy search */
    unsigned nbest;        /* alternatives returned for each text, at most `beam`; 1: none */
    double length_penalty; /* score = log probability / length ^ length_penalty */
    zhen_early_stopping early_stopping;
    size_t min_new_tokens;
    size_t max_new_tokens; /* with </s>, so not 1; 0: as many as the model and the length guard
                              allow */
    size_t no_repeat_ngram;
    double repetition_penalty;
    bool scores;    /* greedy search: compute scores, which costs time; otherwise they are 0 */
    bool guard;     /* break off endless repetition, bound the output's length, never be empty;
                       write no U+FFFD that the source has not; copy words in Latin letters; mend the
                       quotation marks of speech that goes on over several sentences */
    bool alignment; /* fill in the links of each sentence */
} zhen_options;

ZHEN_API void zhen_options_init(zhen_options *options, const zhen_model *model);

typedef struct zhen_translator zhen_translator;

ZHEN_API zhen_status zhen_translator_create(const zhen_model *model, const zhen_options *options,
                                            zhen_translator **translator, zhen_error *error);
ZHEN_API void zhen_translator_free(zhen_translator *translator);

/* Makes a running zhen_translate return ZHEN_ERROR_CANCELLED soon, and later ones at once. Safe
 * from any thread and from a signal handler. */
ZHEN_API void zhen_translator_cancel(zhen_translator *translator);

/* One text to translate: a line or a paragraph, any number of sentences. It need not end in a
 * zero byte and may contain any bytes. */
typedef struct zhen_text {
    const char *bytes;
    size_t length;
} zhen_text;

/* A range of bytes, [begin, end). */
typedef struct zhen_span {
    size_t begin, end;
} zhen_span;

/* A target piece and the source piece it was translated from, by the model's alignment heads. */
typedef struct zhen_link {
    zhen_span source; /* in the source text */
    zhen_span target; /* in the translation */
} zhen_link;

/* Signs before or after a sentence (a bullet, emoji) and list labels (a. 12) before a blank) are
 * sentences of their own and pass through. */
typedef struct zhen_sentence {
    zhen_span source; /* in the source text, without surrounding space */
    zhen_span target; /* in the translation */
    double score;     /* log probability / length ^ length_penalty; the mean of these if it was
                         cut for its length; 0 if passed through */
    const zhen_link *links; /* in order of the target; NULL unless options.alignment */
    size_t link_count;
} zhen_sentence;

typedef struct zhen_alternative {
    const char *text; /* zero-terminated */
    size_t length;
    double score;
} zhen_alternative;

typedef struct zhen_translation {
    const char *text; /* zero-terminated UTF-8; may hold U+0000 where the source did */
    size_t length;
    double score; /* mean of the scores of the translated sentences; 0 if there is none */
    const zhen_sentence *sentences;
    size_t sentence_count;
    const zhen_alternative *alternatives; /* best first, the first is the translation itself; the
                                             guard may rank one with the source's names higher
                                             than its score does */
    size_t alternative_count;             /* 1 to options.nbest */
    size_t source_tokens, target_tokens;  /* what the model read and wrote, without </s> */
} zhen_translation;

typedef struct zhen_translations zhen_translations;

/* Translates `count` texts, each on its own, and returns the translations in the same order.
 * Sentences of all texts are batched together and shared among the worker threads, so many texts
 * in one call are translated faster than one by one; the result is the same, to the last bit with
 * int8 weights (the sums of OpenBLAS depend on how many rows it multiplies). The texts are not
 * needed after the call; free the result with zhen_translations_free. */
ZHEN_API zhen_status zhen_translate(zhen_translator *translator, const zhen_text *texts,
                                    size_t count, zhen_translations **translations,
                                    zhen_error *error);

ZHEN_API size_t zhen_translations_count(const zhen_translations *translations);
ZHEN_API const zhen_translation *zhen_translations_get(const zhen_translations *translations,
                                                       size_t index);
ZHEN_API void zhen_translations_free(zhen_translations *translations);

/* ---- Documents ----------------------------------------------------------------------------- */

/*
 * Documents keep everything but their prose byte for byte. A reader takes the bytes of a file and
 * gives documents: line-oriented formats (text, JSONL, CSV, TSV) come in chunks of whole records so
 * that memory stays bounded, the others as a single document when the file is complete, which needs
 * up to twenty times its bytes; files that are too large for that are refused. Each
 * document lists its texts; the caller translates them (with options.alignment, so that markup goes
 * to the right words), hands the translations in and gets the document's bytes, in UTF-8. The bytes
 * of the chunks, one after another, are the translated file:
 *
 *     zhen_reader_feed(reader, bytes, size, &error), or zhen_reader_finish at the end of the file
 *     while (!zhen_reader_next(reader, false, &document, &error) && document) {
 *         zhen_translate(translator, texts, n, &translations, &error), texts from
 *             zhen_document_text(document, i), i < n = zhen_document_count(document)
 *         zhen_document_set(document, i, zhen_translations_get(translations, i), &error), i < n
 *         zhen_document_render(document, &output, &error)
 *         ... write output.bytes ...
 *         zhen_document_free(document);
 *     }
 *
 * Whatever the translations say, no tag is lost, emptied or doubled, and protected words (URLs,
 * %s, code, ...) come out as they were. A text whose translation equals it leaves its bytes alone.
 */

typedef enum zhen_format {
    ZHEN_FORMAT_TEXT,
    ZHEN_FORMAT_MARKDOWN,
    ZHEN_FORMAT_HTML,
    ZHEN_FORMAT_XHTML,
    ZHEN_FORMAT_SRT,
    ZHEN_FORMAT_VTT,
    ZHEN_FORMAT_PO,
    ZHEN_FORMAT_JSON,
    ZHEN_FORMAT_JSONL,
    ZHEN_FORMAT_CSV,
    ZHEN_FORMAT_TSV,
    ZHEN_FORMAT_XLIFF
} zhen_format;

/* By name ("markdown", "srt", ...) or by a path's extension (".md", ".srt"); false if unknown. */
ZHEN_API bool zhen_format_from_name(const char *name, zhen_format *format);
ZHEN_API bool zhen_format_from_path(const char *path, zhen_format *format);
ZHEN_API const char *zhen_format_name(zhen_format format);

typedef enum zhen_bilingual {
    ZHEN_BILINGUAL_NONE,
    ZHEN_BILINGUAL_INTERLEAVED, /* text: each line, then its translation; subtitles: both in a cue
                                 */
    ZHEN_BILINGUAL_TSV          /* any format: a line "source TAB translation" for each text */
} zhen_bilingual;

typedef struct zhen_document_options {
    zhen_format format;
    const char *name;     /* of the file, for messages; NULL: none */
    const char *encoding; /* "UTF-8", "UTF-16", "GB18030", "Big5", ... as iconv knows it; NULL:
                             detect */
    bool paragraphs;      /* text: join hard-wrapped lines, blank lines divide paragraphs */
    zhen_bilingual bilingual;
    const char *json_path; /* JSON, JSONL: which strings, "$.items[*].title" or "items.title",
                              several with commas; NULL: all */
    const char *columns;   /* CSV, TSV: names from the first line or numbers from 1, several with
                              commas; NULL: all */
    size_t chunk_bytes;    /* about so many bytes in one document; 0: 64 KiB */
    size_t most_bytes;     /* larger files, or records of line-oriented formats, are refused; 0: 128
                              MiB, or 16 MiB for records */
} zhen_document_options;

ZHEN_API void zhen_document_options_init(zhen_document_options *options, zhen_format format);

typedef struct zhen_reader zhen_reader;
typedef struct zhen_document zhen_document;

/* The options' strings are copied. */
ZHEN_API zhen_status zhen_reader_create(const zhen_document_options *options, zhen_reader **reader,
                                        zhen_error *error);
ZHEN_API void zhen_reader_free(zhen_reader *reader);

/* Takes the next bytes of the file. Ask for documents until there are none before feeding more. */
ZHEN_API zhen_status zhen_reader_feed(zhen_reader *reader, const void *bytes, size_t size,
                                      zhen_error *error);
/* There are no more bytes. */
ZHEN_API zhen_status zhen_reader_finish(zhen_reader *reader, zhen_error *error);

/* Gives the next document, or NULL if more bytes are needed (or, after zhen_reader_finish, none is
 * left). With `flush`, a line-oriented format gives what whole records it has, however few: for
 * input that pauses. The document is the caller's to free and may outlive the reader. */
ZHEN_API zhen_status zhen_reader_next(zhen_reader *reader, bool flush, zhen_document **document,
                                      zhen_error *error);

/* The encoding the file is read in, "UTF-8", "UTF-16LE", "GB18030", "Big5-HKSCS", ...; NULL as long
 * as only ASCII has been seen. */
ZHEN_API const char *zhen_reader_encoding(const zhen_reader *reader);

/* What options.columns or options.json_path name and the documents so far have not, one after
 * another from index 0 on; NULL behind the last. It belongs to the reader. */
ZHEN_API const char *zhen_reader_missing(const zhen_reader *reader, size_t index);

/* How many texts there are to translate, and which (none, where there is none of that index). They
 * belong to the document. */
ZHEN_API size_t zhen_document_count(const zhen_document *document);
ZHEN_API zhen_text zhen_document_text(const zhen_document *document, size_t index);

/* Puts in the translation of text `index`, which is not needed after the call. */
ZHEN_API zhen_status zhen_document_set(zhen_document *document, size_t index,
                                       const zhen_translation *translation, zhen_error *error);

/* The document with the translations that were set; other texts stay as they are. The bytes belong
 * to the document. */
ZHEN_API zhen_status zhen_document_render(zhen_document *document, zhen_text *output,
                                          zhen_error *error);
ZHEN_API void zhen_document_free(zhen_document *document);

/* Where sentence number `sentence` of the translation that was set for text `index` stands, with
 * its protected words as they are: in the document's source (UTF-8) and in the output rendered
 * last. Plain text only; false for other formats, and where there is no such text or sentence. A
 * sentence may have come out empty. */
ZHEN_API bool zhen_document_sentence(const zhen_document *document, size_t index,
                                     const zhen_translation *translation, size_t sentence,
                                     zhen_span *source, zhen_span *output);

#ifdef __cplusplus
}
#endif

#endif
