/* Encodings: any division into pieces decodes alike, and what is not said is found out. */
#include "document/mock.h"

#include "document/charset.h"
#include "document/decode.h"
#include "support/suite.h"
#include "text/utf8.h"

#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sentences of several kinds, Simplified and Traditional. */
static const char *const simplified[] = {"我爱水课。",
                                         "今天的天气很好，我们去公园散步吧。",
                                         "“你叫什么名字？”她问。",
                                         "程序无法打开文件，请检查文件名是否正确。",
                                         "鲁迅原名周树人，字豫才，浙江绍兴人。",
                                         "价格上涨了3.5%，达到每公斤12元。",
                                         "你好！",
                                         "中华人民共和国"};
static const char *const traditional[] = {"我愛水課。",
                                          "今天的天氣很好，我們去公園散步吧。",
                                          "「你叫什麼名字？」她問。",
                                          "程式無法開啟檔案，請檢查檔名是否正確。",
                                          "魯迅原名周樹人，字豫才，浙江紹興人。",
                                          "價格上漲了3.5%，達到每公斤12元。",
                                          "你好！",
                                          "中華民國"};
enum { SENTENCES = sizeof simplified / sizeof *simplified };

static size_t encode(const char *encoding, const char *text, char *out, size_t room)
{
    iconv_t descriptor = iconv_open(encoding, "UTF-8");
    ck_assert(descriptor != (iconv_t)-1);
    char *from = (char *)text, *to = out;
    size_t left = strlen(text), free_bytes = room;
    ck_assert_int_eq((int)iconv(descriptor, &from, &left, &to, &free_bytes), 0);
    ck_assert_int_eq((int)iconv(descriptor, NULL, NULL, &to, &free_bytes), 0);
    iconv_close(descriptor);
    return room - free_bytes;
}

static void check_guess(const char *encoding, const char *text, const char *expected)
{
    char bytes[1024];
    size_t size = encode(encoding, text, bytes, sizeof bytes);
    ck_assert_str_eq(doc_charset_guess(ZHEN_FORMAT_TEXT, bytes, size), expected);
}

START_TEST(sentences_are_recognised)
{
    for (size_t i = 0; i < SENTENCES; i++) {
        check_guess("UTF-8", simplified[i], "UTF-8");
        check_guess("GBK", simplified[i], "GB18030");
        check_guess("GB18030", simplified[i], "GB18030");
        check_guess("BIG5", traditional[i], "BIG5-HKSCS");
        if (strlen(simplified[i]) < 15)
            continue; /* without a byte order mark, UTF-16 needs more than a word */
        check_guess("UTF-16LE", simplified[i], "UTF-16LE");
        check_guess("UTF-16BE", traditional[i], "UTF-16BE");
    }
    /* Read in the wrong order, ASCII looks like rare characters. */
    check_guess("UTF-16BE", "body { color: #333; } /* \u00A9 */", "UTF-16BE");
    check_guess("UTF-16LE", "body { color: #333; } /* \u00A9 */", "UTF-16LE");
    /* As do two letters of it in UTF-16. */
    check_guess("ISO-8859-1", "caf\u00E9 and some English text", "UTF-8");
    check_guess("ISO-8859-1", "it was the na\u00EFve thing to do, said Ren\u00E9\n", "UTF-8");
}
END_TEST

/* A zero byte has no place in a text, but that does not make it UTF-16. */
START_TEST(stray_zeros_do_not_mislead)
{
    static const struct {
        const char *encoding, *text; /* with a zero byte for each | */
        const char *expected;
    } cases[] = {
        {"UTF-8", "hello|world and more text here\nfoo bar\n", "UTF-8"},
        {"UTF-8", "hello world|and more text here\nfoo bar\n", "UTF-8"},
        {"UTF-8", "hello world\n|and more text here\nfoo\nbar\n", "UTF-8"},
        {"UTF-8", "hello worl|\nand more text here\nfoo\nbar\n", "UTF-8"},
        {"ISO-8859-1", "caf\u00E9 and some| English text", "UTF-8"},
        {"ISO-8859-1", "a caf\u00E9 and some| English text\n", "UTF-8"},
        {"UTF-8", "\u4F60\u597D|\n", "UTF-8"},
        {"GBK", "今天的天气很好，|我们去公园散步吧。\n", "GB18030"},
        {"GBK", "a今天的天气很好，我们去公园散步吧。|\n", "GB18030"},
        {"BIG5", "今天的天氣很好，|我們去公園散步吧。\n", "BIG5-HKSCS"},
        /* Where line ends are spelled as UTF-16 spells them, it may well be rare characters. */
        {"UTF-16LE", "魑魅魍魎\r\n饕餮\r\n", "UTF-16LE"},
        {"UTF-16BE", "魑魅魍魎\r\n饕餮\r\n", "UTF-16BE"},
        {"UTF-16LE", "Hello, world\n", "UTF-16LE"},
        {"UTF-16BE", "Hello, world", "UTF-16BE"},
        {"UTF-16LE", "第3章\n上海的天气很好\n", "UTF-16LE"},
        {"UTF-16BE", "第3章\n上海的天气很好\n", "UTF-16BE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[1024];
        size_t size = encode(cases[i].encoding, cases[i].text, bytes, sizeof bytes);
        for (size_t at = 0; at < size; at++)
            if (bytes[at] == '|')
                bytes[at] = '\0';
        ck_assert_msg(
            strcmp(doc_charset_guess(ZHEN_FORMAT_TEXT, bytes, size), cases[i].expected) == 0,
            "number %zu is read as %s", i, doc_charset_guess(ZHEN_FORMAT_TEXT, bytes, size));
    }
}
END_TEST

START_TEST(marks_and_declarations_count)
{
    ck_assert_str_eq(doc_charset_guess(ZHEN_FORMAT_TEXT, "\xFF\xFE\x11\x62", 4), "UTF-16LE");
    ck_assert_str_eq(doc_charset_guess(ZHEN_FORMAT_TEXT, "\xFE\xFF\x62\x11", 4), "UTF-16BE");
    ck_assert_str_eq(doc_charset_guess(ZHEN_FORMAT_TEXT, "abc", 3), "UTF-8");
    /* Bytes that would be rare characters in either. */
    const char *html = "<meta charset=big5>\xF1\xF2\xF3\xF4";
    ck_assert_str_eq(doc_charset_guess(ZHEN_FORMAT_HTML, html, strlen(html)), "BIG5-HKSCS");
    const char *xml = "<?xml version='1.0' encoding='gb2312'?><a>\xF1\xF2\xF3\xF4</a>";
    ck_assert_str_eq(doc_charset_guess(ZHEN_FORMAT_XLIFF, xml, strlen(xml)), "GB18030");
}
END_TEST

START_TEST(pieces_decode_alike)
{
    static const char *const encodings[] = {"GB18030",  "BIG5-HKSCS", "UTF-16LE",
                                            "UTF-16BE", "UTF-8",      "UTF-32LE"};
    for (size_t e = 0; e < sizeof encodings / sizeof *encodings; e++) {
        const char *text = e == 1 ? traditional[1] : simplified[1];
        char bytes[1024];
        size_t size = encode(encodings[e], text, bytes, sizeof bytes);
        for (size_t step = 1; step <= size; step++) {
            doc_decoder decoder;
            base_buffer out = {0};
            ck_assert(doc_decoder_open(&decoder, encodings[e]));
            for (size_t at = 0; at < size; at += step)
                ck_assert(doc_decoder_run(&decoder, bytes + at, size - at < step ? size - at : step,
                                          false, &out));
            ck_assert(doc_decoder_run(&decoder, "", 0, true, &out));
            ck_assert_str_eq(out.data, text);
            doc_decoder_close(&decoder);
            base_buffer_free(&out);
        }
    }
}
END_TEST

START_TEST(junk_becomes_replacements)
{
    static const char *const encodings[] = {"GB18030", "BIG5-HKSCS", "UTF-16LE", "UTF-16BE"};
    mock_random random = {3};
    for (int round = 0; round < 400; round++) {
        char bytes[64];
        doc_decoder decoder;
        base_buffer out = {0};
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)mock_next(&random);
        ck_assert(doc_decoder_open(&decoder, encodings[round % 4]));
        size_t cut = mock_below(&random, sizeof bytes);
        ck_assert(doc_decoder_run(&decoder, bytes, cut, false, &out));
        ck_assert(doc_decoder_run(&decoder, bytes + cut, sizeof bytes - cut, true, &out));
        ck_assert(text_is_valid(out.data, out.length));
        ck_assert_uint_gt(out.length, 16);
        doc_decoder_close(&decoder);
        base_buffer_free(&out);
    }
    doc_decoder decoder;
    ck_assert(!doc_decoder_open(&decoder, "klingon"));
    doc_decoder_close(&decoder);
}
END_TEST

/* ---- Through the reader -------------------------------------------------------------------------
 */

static char *read_as(zhen_format format, const char *encoding, const char *bytes, size_t size,
                     size_t step, mock_kind kind)
{
    zhen_document_options options;
    zhen_document_options_init(&options, format);
    options.encoding = encoding;
    zhen_error error = {0};
    size_t out_size;
    char *out = mock_run(&options, bytes, size, step, kind, &out_size, &error);
    ck_assert_msg(out != NULL, "%s", error.message);
    return out;
}

START_TEST(files_become_utf8)
{
    static const char *const encodings[] = {"GBK", "GB18030", "UTF-16LE", "UTF-16BE"};
    const char *text = "今天的天气很好，\r\n我们去公园散步吧。\r\nabc\r\n";
    for (size_t e = 0; e < 4; e++) {
        char bytes[1024];
        size_t size = encode(encodings[e], text, bytes, sizeof bytes);
        for (size_t step = 1; step <= size; step += 7) {
            char *detected = read_as(ZHEN_FORMAT_TEXT, NULL, bytes, size, step, MOCK_IDENTITY);
            char *told = read_as(ZHEN_FORMAT_TEXT, encodings[e], bytes, size, step, MOCK_IDENTITY);
            ck_assert_str_eq(detected, text);
            ck_assert_str_eq(told, text);
            free(detected);
            free(told);
        }
    }
    /* The byte order mark is not part of the text. */
    char *out = read_as(ZHEN_FORMAT_TEXT, NULL, "\xFE\xFF\x62\x11\0\n", 6, 1, MOCK_IDENTITY);
    ck_assert_str_eq(out, "我\n");
    free(out);
    out = read_as(ZHEN_FORMAT_TEXT, "UTF-16", "\xFF\xFE\x11\x62\n\0", 6, 1, MOCK_IDENTITY);
    ck_assert_str_eq(out, "我\n");
    free(out);
}
END_TEST

START_TEST(declarations_are_changed)
{
    static const struct {
        zhen_format format;
        const char *text, *expected;
    } cases[] = {
        {ZHEN_FORMAT_HTML, "<meta charset=\"gb2312\"><p>你好", "<meta charset=\"UTF-8\"><p>你好"},
        {ZHEN_FORMAT_HTML,
         "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gbk\"><p>你好",
         "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=UTF-8\"><p>你好"},
        {ZHEN_FORMAT_XHTML, "<?xml version=\"1.0\" encoding=\"GBK\"?><p>你好</p>",
         "<?xml version=\"1.0\" encoding=\"UTF-8\"?><p>你好</p>"},
        {ZHEN_FORMAT_XHTML,
         "<?xml version=\"1.0\" encoding=\"GBK\"?><p><meta charset='gbk'/>你好</p>",
         "<?xml version=\"1.0\" encoding=\"UTF-8\"?><p><meta charset='UTF-8'/>你好</p>"},
        {ZHEN_FORMAT_HTML, "<meta charset=gbk><meta content='text/html;charset=gb2312'><p>你好",
         "<meta charset=UTF-8><meta content='text/html;charset=UTF-8'><p>你好"},
        {ZHEN_FORMAT_PO,
         "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=GB2312\\n\"\n\n"
         "msgid \"你好 charset=gbk\"\nmsgstr \"\"\n",
         "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
         "msgid \"你好 charset=gbk\"\nmsgstr \"\"\n"},
        /* What speaks of declarations is none. */
        {ZHEN_FORMAT_HTML,
         "<?xml version='1.0' encoding='gbk'?><!-- <meta charset=gbk> --><meta charset=\"gbk\">"
         "<script>var s=\"<meta charset=gbk>\";</script><p title='<meta charset=gbk>'>你好。</p>"
         "<!-- <?xml encoding='gbk'?> -->",
         "<?xml version='1.0' encoding='UTF-8'?><!-- <meta charset=gbk> --><meta "
         "charset=\"UTF-8\"><script>var s=\"<meta charset=gbk>\";</script>"
         "<p title='<meta charset=gbk>'>你好。</p><!-- <?xml encoding='gbk'?> -->"},
        {ZHEN_FORMAT_XHTML,
         "<?xml version='1.0' encoding='gbk'?>\n<!-- <?xml encoding='gbk'?> -->"
         "<p><![CDATA[<meta charset='gbk'>]]>你好</p>",
         "<?xml version='1.0' encoding='UTF-8'?>\n<!-- <?xml encoding='gbk'?> -->"
         "<p><![CDATA[<meta charset='gbk'>]]>你好</p>"},
        {ZHEN_FORMAT_XLIFF,
         "<?xml version='1.0' encoding='gbk'?><xliff version='1.2'><!-- <?xml encoding='gbk'?> -->"
         "<trans-unit><source>你好</source></trans-unit></xliff>",
         "<?xml version='1.0' encoding='UTF-8'?><xliff version='1.2'>"
         "<!-- <?xml encoding='gbk'?> -->"
         "<trans-unit><source>你好</source></trans-unit></xliff>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[1024];
        size_t size = encode("GBK", cases[i].text, bytes, sizeof bytes);
        char *out = read_as(cases[i].format, NULL, bytes, size, 16, MOCK_IDENTITY);
        ck_assert_str_eq(out, cases[i].expected);
        free(out);
        /* In UTF-8 nothing is changed, whatever it says. */
        out =
            read_as(cases[i].format, NULL, cases[i].text, strlen(cases[i].text), 16, MOCK_IDENTITY);
        ck_assert_str_eq(out, cases[i].text);
        free(out);
    }
}
END_TEST

/* Browsers look for it as far as it takes. */
START_TEST(late_declarations_are_changed)
{
    char text[8192], bytes[8192], expected[8192];
    snprintf(text, sizeof text, "<script>%5000s</script><meta charset=\"gb2312\"><p>你好，世界。",
             "");
    snprintf(expected, sizeof expected,
             "<script>%5000s</script><meta charset=\"UTF-8\"><p>你好，世界。", "");
    size_t size = encode("GBK", text, bytes, sizeof bytes);
    char *out = read_as(ZHEN_FORMAT_HTML, NULL, bytes, size, 4096, MOCK_IDENTITY);
    ck_assert_str_eq(out, expected);
    free(out);
}
END_TEST

START_TEST(what_is_no_text_is_refused)
{
    static const char docx[] = "PK\3\4\x14\0\x06\0\n\x8f\xe6\x88\x91";
    zhen_document_options options;
    zhen_document_options_init(&options, ZHEN_FORMAT_TEXT);
    options.name = "a.docx";
    zhen_error error;
    size_t size;
    ck_assert_ptr_null(
        mock_run(&options, docx, sizeof docx, sizeof docx, MOCK_IDENTITY, &size, &error));
    ck_assert_int_eq(error.status, ZHEN_ERROR_UNSUPPORTED);
    ck_assert_str_eq(error.message, "a.docx: no text, but a ZIP archive (as .docx, .xlsx, .pptx, "
                                    ".odt and .epub are)");
    options.name = NULL;
    ck_assert_ptr_null(mock_run(&options, "%PDF-1.4\n", 9, 9, MOCK_IDENTITY, &size, &error));
    ck_assert_str_eq(error.message, "no text, but a PDF file");
    options.encoding = "UTF-8"; /* somebody knows better */
    char *out = mock_run(&options, "%PDF-1.4\n", 9, 9, MOCK_IDENTITY, &size, &error);
    ck_assert_str_eq(out, "%PDF-1.4\n");
    free(out);
}
END_TEST

START_TEST(encoding_is_reported)
{
    zhen_document_options options;
    zhen_reader *reader;
    zhen_document *document;
    zhen_document_options_init(&options, ZHEN_FORMAT_TEXT);
    ck_assert_int_eq(zhen_reader_create(&options, &reader, NULL), ZHEN_OK);
    ck_assert_ptr_null(zhen_reader_encoding(reader));
    /* Lines come out as soon as they are there, and ASCII decides nothing. */
    ck_assert_int_eq(zhen_reader_feed(reader, "abc\nde", 6, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_next(reader, false, &document, NULL), ZHEN_OK);
    ck_assert_ptr_null(document);
    ck_assert_int_eq(zhen_reader_next(reader, true, &document, NULL), ZHEN_OK);
    ck_assert_ptr_nonnull(document);
    zhen_text output;
    ck_assert_int_eq(zhen_document_render(document, &output, NULL), ZHEN_OK);
    ck_assert_str_eq(output.bytes, "abc\n");
    zhen_document_free(document);
    ck_assert_ptr_null(zhen_reader_encoding(reader));
    ck_assert_int_eq(zhen_reader_feed(reader, "\xC4\xE3\xBA\xC3\xA3\xA1\n", 7, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_next(reader, true, &document, NULL), ZHEN_OK);
    ck_assert_ptr_nonnull(document);
    ck_assert_str_eq(zhen_reader_encoding(reader), "GB18030");
    ck_assert_int_eq(zhen_document_render(document, &output, NULL), ZHEN_OK);
    ck_assert_str_eq(output.bytes, "de你好！\n");
    /* A document may outlive its reader. */
    zhen_reader_free(reader);
    ck_assert_uint_eq(zhen_document_count(document), 1);
    zhen_document_free(document);
}
END_TEST

/* Feeds a reader, which must give out `expected`, NULL for nothing, as far as it can. */
static void feed(zhen_reader *reader, const char *bytes, size_t size, const char *expected)
{
    zhen_document *document;
    zhen_text output;
    ck_assert_int_eq(zhen_reader_feed(reader, bytes, size, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_next(reader, true, &document, NULL), ZHEN_OK);
    if (!expected) {
        ck_assert_ptr_null(document);
        return;
    }
    ck_assert_ptr_nonnull(document);
    ck_assert_int_eq(zhen_document_render(document, &output, NULL), ZHEN_OK);
    ck_assert_str_eq(output.bytes, expected);
    zhen_document_free(document);
}

/* A pause within a character says nothing about the encoding. */
START_TEST(pauses_do_not_mislead)
{
    static const char *const texts[] = {"你好。\n", "你好\n今天。\n", "ab\n你。\n"};
    static const char *const encodings[] = {"UTF-8", "GB18030"};
    for (size_t i = 0; i < 6; i++) {
        char bytes[64];
        size_t size = encode(encodings[i % 2], texts[i / 2], bytes, sizeof bytes);
        const char *end = strchr(texts[i / 2], '\n') + 1;
        size_t whole = (size_t)((char *)memchr(bytes, '\n', size) + 1 - bytes);
        char first[64] = "";
        memcpy(first, texts[i / 2], (size_t)(end - texts[i / 2]));
        for (size_t pause = 1; pause < size; pause++) {
            zhen_document_options options;
            zhen_reader *reader;
            zhen_document_options_init(&options, ZHEN_FORMAT_TEXT);
            ck_assert_int_eq(zhen_reader_create(&options, &reader, NULL), ZHEN_OK);
            feed(reader, bytes, pause, pause < whole ? NULL : first);
            feed(reader, bytes + pause, size - pause, pause < whole ? texts[i / 2] : end);
            ck_assert_str_eq(zhen_reader_encoding(reader), encodings[i % 2]);
            zhen_reader_free(reader);
        }
    }
}
END_TEST

/* The memory of a stream is that of a chunk: an endless line is cut, at the ends of sentences. */
START_TEST(endless_lines_are_cut)
{
    zhen_document_options options;
    zhen_reader *reader;
    zhen_document *document;
    size_t documents = 0, largest = 0, total = 0;
    zhen_document_options_init(&options, ZHEN_FORMAT_TEXT);
    ck_assert_int_eq(zhen_reader_create(&options, &reader, NULL), ZHEN_OK);
    char text[42 * 500];
    for (size_t i = 0; i < 500; i++)
        memcpy(text + 42 * i, "今天天气很好，我们去公园吧。", 42);
    for (int i = 0; i < 120; i++) {
        ck_assert_int_eq(zhen_reader_feed(reader, text, sizeof text, NULL), ZHEN_OK);
        ck_assert_int_eq(zhen_reader_next(reader, false, &document, NULL), ZHEN_OK);
        if (!document)
            continue;
        zhen_text output;
        ck_assert_int_eq(zhen_document_render(document, &output, NULL), ZHEN_OK);
        ck_assert_uint_eq(output.length % 42, 0);
        largest = output.length > largest ? output.length : largest;
        total += output.length;
        documents++;
        zhen_document_free(document);
    }
    zhen_reader_free(reader);
    ck_assert_uint_ge(documents, 2);
    ck_assert_uint_le(largest, (size_t)1 << 20);
    ck_assert_uint_gt(total + ((size_t)1 << 20), 60000 * 42);
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {
        &sentences_are_recognised, &stray_zeros_do_not_mislead,    &marks_and_declarations_count,
        &pieces_decode_alike,      &junk_becomes_replacements,     &files_become_utf8,
        &declarations_are_changed, &late_declarations_are_changed, &what_is_no_text_is_refused,
        &encoding_is_reported,     &pauses_do_not_mislead,         &endless_lines_are_cut};
    TCase *group = tcase_create("encodings");
    tcase_set_timeout(group, 0);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(group, *tests[i]);
    return run_group("document/encodings", group);
}
