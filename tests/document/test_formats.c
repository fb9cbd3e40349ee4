/*
 * What each format keeps and what it translates. The gloss spells 我 as "pd", 爱 as "jg", 水 as
 * "kz", 课 as "ka" (see mock.c); what is checked is everything around.
 */
#include "document/translate.h"

#include "base/buffer.h"
#include "document/escape.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static zhen_document_options format(zhen_format f)
{
    zhen_document_options options;
    zhen_document_options_init(&options, f);
    options.name = "file";
    options.encoding = "UTF-8";
    return options;
}

/* ---- Text --------------------------------------------------------------------------------- */

START_TEST(lines_are_texts)
{
    zhen_document_options o = format(ZHEN_FORMAT_TEXT);
    expect_gloss(&o, "\xEF\xBB\xBF 我爱 \r\n\nabc\n\t水", "\xEF\xBB\xBF pd jg \r\n\nabc\n\tkz");
    expect_gloss(&o, "", "");
    expect_gloss(&o, "我\r爱\r", "pd\rjg\r");
}
END_TEST

START_TEST(paragraphs_are_joined)
{
    zhen_document_options o = format(ZHEN_FORMAT_TEXT);
    o.paragraphs = true;
    expect_gloss(&o, "我爱\n水课 ab\ncd 我\n\n　　水\n爱\n", "pd jg kz ka ab cd pd\n\n　　kz jg\n");
}
END_TEST

START_TEST(two_languages_in_text)
{
    zhen_document_options o = format(ZHEN_FORMAT_TEXT);
    o.bilingual = ZHEN_BILINGUAL_INTERLEAVED;
    expect_gloss(&o, " 我爱\nabc\n水", " 我爱\n pd jg\nabc\n水\nkz");
    o.bilingual = ZHEN_BILINGUAL_TSV;
    expect_gloss(&o, " 我爱 %s\nabc\n水", "我爱 %s\tpd jg %s\n水\tkz\n");
}
END_TEST

/* Code and placeholders are shown in both columns; what would end a field is a blank. */
START_TEST(pairs_show_words)
{
    static const struct {
        zhen_format format;
        const char *text, *expected;
    } cases[] = {
        {ZHEN_FORMAT_HTML, "<p>我 <code>a &lt; <b>b</b></code> 爱", "我 a < b 爱\tpd a < b jg\n"},
        {ZHEN_FORMAT_HTML, "<p>我%s<span translate=no>水\n\t课</span>",
         "我%s水  课\tpd %s水  课\n"},
        {ZHEN_FORMAT_HTML, "<p>我<svg></svg>爱", "我爱\tpd  jg\n"},
        {ZHEN_FORMAT_HTML, "<p>我&copy;爱&nbsp;水", "我&copy;爱 水\tpd&copy; jg kz\n"},
        {ZHEN_FORMAT_MARKDOWN, "我 `` `a` `` 爱", "我 `a` 爱\tpd `a` jg\n"},
        {ZHEN_FORMAT_MARKDOWN, "我<code>a **b**</code>爱", "我a b爱\tpd a b jg\n"},
        {ZHEN_FORMAT_XLIFF,
         "<xliff><trans-unit><source>我<x id='1'/>爱</source></trans-unit></xliff>",
         "我<x id='1'/>爱\tpd <x id='1'/> jg\n"},
        {ZHEN_FORMAT_JSON, "[\"我`a b`\"]", "我`a b`\tpd `a b`\n"},
        /* Elements that begin with a point and a blank. */
        {ZHEN_FORMAT_MARKDOWN, "- 我**✨ 爱**水", "我✨ 爱水\tpd ✨ jg kz\n"},
        {ZHEN_FORMAT_HTML, "<p>我<b>&nbsp;爱</b></p>", "我 爱\tpd  jg\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zhen_document_options o = format(cases[i].format);
        o.bilingual = ZHEN_BILINGUAL_TSV;
        expect_gloss(&o, cases[i].text, cases[i].expected);
    }
}
END_TEST

START_TEST(words_are_protected)
{
    static const char *const words[] = {"https://example.org/a(b)?c=d&e=f",
                                        "www.a.cn",
                                        "a.b+c@example.com",
                                        "config.json",
                                        "/etc/fstab",
                                        "~/.bashrc",
                                        "C:\\dir\\a.txt",
                                        "--output-dir",
                                        "@zhang_san",
                                        "@张三",
                                        "%s",
                                        "%-5.2f",
                                        "%1$d",
                                        "%(name)s",
                                        "%15<PRIuMAX>",
                                        "{name}",
                                        "{0:>8}",
                                        "{{ x }}",
                                        "${HOME}",
                                        "$HOME",
                                        "`rm -rf`",
                                        "``a`b``"};
    zhen_document_options o = format(ZHEN_FORMAT_TEXT);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[128], expected[128];
        snprintf(text, sizeof text, "我 %s 爱", words[i]);
        snprintf(expected, sizeof expected, "pd %s jg", words[i]);
        expect_gloss(&o, text, expected);
        expect_output(&o, MOCK_DROPPING, text, expected[0] ? expected : text);
    }
}
END_TEST

START_TEST(symbols_are_protected)
{
    zhen_document_options o = format(ZHEN_FORMAT_TEXT);
    expect_gloss(&o, "我👍🏽爱", "pd 👍🏽 jg");
    expect_gloss(&o, "我爱 (^_^)", "pd jg (^_^)");
    expect_gloss(&o, "我╮(╯▽╰)╭爱", "pd ╮(╯▽╰)╭ jg");
    expect_gloss(&o, "我:-)爱", "pd :-) jg");
    expect_gloss(&o, "#水课#我爱", "#水课# pd jg");
    expect_gloss(&o, "我&nbsp;爱", "pd&nbsp;jg");
}
END_TEST

START_TEST(prices_and_percentages_are_text)
{
    zhen_document_options o = format(ZHEN_FORMAT_TEXT);
    expect_output(&o, MOCK_IDENTITY, "我 $5 爱 100% 水(课)", "我 $5 爱 100% 水(课)");
    expect_gloss(&o, "我 5 爱 3.5 水", "pd 5 jg 3. 5 kz");
    expect_gloss(&o, "我``爱''。水``课''", "pd`` jg''. kz`` ka''");
}
END_TEST

/* A model that garbles numbers garbles no protected word. */
START_TEST(stand_ins_are_repaired)
{
    zhen_document_options o = format(ZHEN_FORMAT_TEXT);
    expect_output(&o, MOCK_SHORT, "我 %s 爱", "%s x");
    expect_output(&o, MOCK_DOUBLING, "我 %s 爱 %d", "pd pd %s jg jg %d");
    /* 27 would be mistaken for the text's own. */
    expect_gloss(&o, "我27爱%s水", "pd 27 jg %s kz");
}
END_TEST

/* Sentences are found in the source and the output, protected words and all. */
START_TEST(sentences_are_located)
{
    zhen_document_options o = format(ZHEN_FORMAT_TEXT);
    zhen_reader *reader;
    zhen_document *document;
    const char *line = " 见 http://a.b/c。  爱😀水！";
    ck_assert_int_eq(zhen_reader_create(&o, &reader, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_feed(reader, line, strlen(line), NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_finish(reader, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_next(reader, false, &document, NULL), ZHEN_OK);
    zhen_text text = zhen_document_text(document, 0), output;
    ck_assert_str_eq(text.bytes, "见 27。 爱水！");
    const zhen_sentence sentences[] = {{.source = {0, 9}, .target = {0, 7}},
                                       {.source = {10, 19}, .target = {8, 17}}};
    zhen_translation translation = {
        .text = "See 27. I love it", .length = 17, .sentences = sentences, .sentence_count = 2};
    static const char *const sources[] = {"见 http://a.b/c。", "爱😀水！"};
    static const char *const targets[] = {"See http://a.b/c.", "I 😀 love it"};
    for (int changed = 0; changed < 2; changed++) {
        if (changed)
            ck_assert_int_eq(zhen_document_set(document, 0, &translation, NULL), ZHEN_OK);
        ck_assert_int_eq(zhen_document_render(document, &output, NULL), ZHEN_OK);
        for (size_t i = 0; i < 2; i++) {
            zhen_span source, target;
            ck_assert(zhen_document_sentence(document, 0, &translation, i, &source, &target));
            const char *expected = changed ? targets[i] : sources[i];
            ck_assert_uint_eq(source.end - source.begin, strlen(sources[i]));
            ck_assert(memcmp(line + source.begin, sources[i], strlen(sources[i])) == 0);
            ck_assert_msg(target.end - target.begin == strlen(expected) &&
                              memcmp(output.bytes + target.begin, expected, strlen(expected)) == 0,
                          "%.*s, not %s", (int)(target.end - target.begin),
                          output.bytes + target.begin, expected);
        }
    }
    /* There are no others. */
    zhen_span span;
    ck_assert_uint_eq(zhen_document_text(document, 1).length, 0);
    ck_assert(!zhen_document_sentence(document, 1, &translation, 0, &span, &span));
    ck_assert(!zhen_document_sentence(document, 0, &translation, 2, &span, &span));
    zhen_document_free(document);
    zhen_reader_free(reader);
}
END_TEST

/* ---- Markdown ----------------------------------------------------------------------------- */

START_TEST(markdown_inlines)
{
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    expect_gloss(&o, "我**爱**[水](http://a.b/c_(d) \"题\")`课`。\n",
                 "pd **jg** [kz](http://a.b/c_(d) \"题\") `课`.\n");
    expect_gloss(&o, "**我**_爱_~~水~~\n", "**pd** _jg_ ~~kz~~\n");
    expect_gloss(&o, "# 我 #\n\n我\n---\n", "# pd #\n\npd\n---\n");
    expect_gloss(&o, "> 我\n> 爱\n\n- [x] 水\n", "> pd jg\n\n- [x] kz\n");
    expect_gloss(&o, "- 我\n  ```\n  爱\n  ```\n  水\n- # 课\n  我\n",
                 "- pd\n  ```\n  爱\n  ```\n  kz\n- # ka\n  pd\n");
    expect_gloss(&o, "|我|爱|\n|---|:-:|\n|水\\|课|`a|b`|\n",
                 "|pd|jg|\n|---|:-:|\n|kz\\| ka|`a|b`|\n");
    expect_gloss(&o, "![我](a.png) 爱![水](b.png)课\n", "![pd](a.png) jg ![kz](b.png) ka\n");
}
END_TEST

/* Chinese has no blanks outside of **...**, wherever the marks are. */
START_TEST(markdown_emphasis_beside_chinese)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"**我：**爱", "**pd:** jg"},
        {"我**“爱”**水", "pd **“ jg”** kz"},
        {"我**[爱](x)**水", "pd **[jg](x)** kz"},
        {"我**`a`**爱**`b`**", "pd **`a`** jg **`b`**"},
        {"*爱。*水我*“爱”*水~~课。~~我", "*jg.* kz pd *“ jg”* kz ~~ka.~~ pd"},
        {"**我：**爱**水:**课（**我！**爱）", "**pd:** jg **kz:** ka（ **pd!** jg）"},
        {"我**爱\n水。**课", "pd **jg kz.** ka"},
        {"**我`**`：**爱", "**pd `**`:** jg"},
        {"我**_爱_**水***课。***我", "pd **_jg_** kz ***ka.*** pd"},
        {"（**我**`a`）", "（ **pd** `a`）"},
        {"|**我：**爱|\n|-|\n|a|", "|**pd:** jg|\n|-|\n|a|"},
        /* These are no emphasis. */
        {"我 * 爱 * 水", "pd\\* jg\\* kz"},
        {"我\\**爱", "pd\\*\\* jg"},
        {"我*.a爱*.b水", "pd\\*. a jg\\*. b kz"},
        {"我*[ab].c爱*[cd].c水", "pd\\*\\[ ab\\]. c jg\\*\\[ cd\\]. c kz"},
        {"我*_a爱*_b水", "pd\\* _a jg\\* _b kz"},
        {"我**/*.a爱**/b。", "pd\\*\\*/\\*. a jg\\*\\*/ b."},
        {"*.a我*.b", "\\*. a pd\\*. b"},
        {"|a|\n|-|\n|*.a我 *.{b,c} 爱*.d|\n", "|a|\n|-|\n|\\*. a pd\\*. {b,c} jg\\*. d|\n"},
        {"我*爱，水**课。", "pd\\* jg, kz\\*\\* ka."},
        {"我：*爱，*水，**课", "pd:\\* jg,\\* kz,\\*\\* ka"},
        {"*爱，*水", "\\* jg,\\* kz"},
        {"我：***爱，**水，*课", "pd:\\*\\*\\* jg,\\*\\* kz,\\* ka"},
        {"`a`*我`b`*爱", "`a`\\* pd `b`\\* jg"},
        {"[a]*我[b]*爱", "\\[ a\\]\\* pd\\[ b\\]\\* jg"},
        {"我*爱“水”*课", "pd\\* jg“ kz”\\* ka"},
        /* Strikethrough takes two tildes. */
        {"我**`a`**:爱", "pd **`a`**: jg"},
        {"我1~2爱，1~2水", "pd 1\\~ 2 jg, 1\\~ 2 kz"},
        {"我~爱~水\\~课", "pd\\~ jg\\~ kz\\~ ka"},
        {"~~~我\n爱\n~~~\n水", "~~~我\n爱\n~~~\nkz"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_output(&o, MOCK_IDENTITY, cases[i].text, cases[i].text);
        expect_gloss(&o, cases[i].text, cases[i].expected);
    }
}
END_TEST

/* Lines of extensions stay where they are, and what is prose in them is translated. */
START_TEST(markdown_extensions)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"> [!NOTE]\n> 我\n> 爱", "> [!NOTE]\n> pd jg"},
        {"> [!tip]- 我\n> 爱", "> [!tip]- pd\n> jg"},
        {"我\n::: tip 爱\n水\n:::\n课", "pd\n::: tip jg\nkz\n:::\nka"},
        {":::note[我]\n爱\n:::", ":::note[pd]\njg\n:::"},
        {"::: {.我}\n爱\n:::", "::: {.我}\njg\n:::"},
        {"!!! note \"我“爱”\"\n    水\n\n    课\n", "!!! note \"pd“ jg”\"\n    kz\n\n    ka\n"},
        {"!!! tip\n    水\n", "!!! tip\n    kz\n"},
        {"??? note\n\n    水\n\n        课\n\n我", "??? note\n\n    kz\n\n        课\n\npd"},
        {"=== \"我\"\n\n    !!! tip\n\n        爱\n", "=== \"pd\"\n\n    !!! tip\n\n        jg\n"},
        {"我\n$$\nE_1 = m c_2\n$$\n爱", "pd\n$$\nE_1 = m c_2\n$$\njg"},
        {"> 我\n> $$ \\text{爱} $$\n> 水", "> pd\n> $$ \\text{爱} $$\n> kz"},
        {"{% a %} 我 {% b %}", "{% a %} pd {% b %}"},
        {"{% hint 我 %}\n爱\n{% endhint %}\n{{< tip >}}\n水\n{{< /tip >}}",
         "{% hint 我 %}\njg\n{% endhint %}\n{{< tip >}}\nkz\n{{< /tip >}}"},
        /* Half a formula is none. */
        {"我\n$$\n\n爱\n$$\n水", "pd$$\n\njg$$ kz"},
        {"```\n$$\n```\n我\n$$\n", "```\n$$\n```\npd$$\n"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_output(&o, MOCK_IDENTITY, cases[i].text, cases[i].text);
        expect_gloss(&o, cases[i].text, cases[i].expected);
    }
    /* A translation does not end the title. */
    expect_output(&o, MOCK_REVERSED, "!!! note \"我 \" 爱\"", "!!! note \"jg' pd\"");
}
END_TEST

/* Links follow the translations of the headings that they lead to. */
START_TEST(markdown_links_to_headings)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"- [我](#我-爱)\n\n# 我 **爱**！\n", "- [pd](#pd-jg)\n\n# pd **jg**!\n"},
        {"[我](#%E6%88%91)爱[水](#水-1 \"题\")\n\n我\n==\n\n## 水\n\n## 水 #\n",
         "[pd](#pd) jg [kz](#kz-1 \"题\")\n\npd\n==\n\n## kz\n\n## kz #\n"},
        {"[我](#我a_b)\n\n# 我`A_b`\n", "[pd](#pd-a_b)\n\n# pd `A_b`\n"},
        {"[我][1]爱\n\n[1]: #我\n> [2]: <#爱> \"题\"\n\n# 我\n\n# 爱 水\n\n[爱]: #爱-水",
         "[pd][1] jg\n\n[1]: #pd\n> [2]: <#爱> \"题\"\n\n# pd\n\n# jg kz\n\n[爱]: #jg-kz"},
        {"我<a href=\"#我\">爱</a>\n\n<ul>\n<li><a\n href='#水-1'>我</a>\n</ul>\n\n# 我\n# 水\n# "
         "水\n",
         "pd <a href=\"#pd\">jg</a>\n\n<ul>\n<li><a\n href='#kz-1'>pd</a>\n</ul>\n\n# pd\n# kz\n# "
         "kz\n"},
        /* A heading that has a name keeps it. */
        {"[我](#水)[我](#a)[我](#课)\n\n# 水 {#水}\n\n爱{#a_爱_b .我}\n===\n\n# 课 # {.爱}\n",
         "[pd](#水) [pd](#a) [pd](#ka)\n\n# kz {#水}\n\njg{#a_爱_b .我}\n===\n\n# ka # {.爱}\n"},
        {"# 我 {爱}\n水{#爱}\n", "# pd{ jg}\nkz{# jg}\n"},
        /* Others stay. */
        {"```\n[1]: #我\n```\n水\n[2]: #我\n\n# 我\n",
         "```\n[1]: #我\n```\nkz\\[ 2\\]: #我\n\n# pd\n"},
        {"[我](#爱)[水](a#我)[课](#a)\n\n# 我\n\n# a\n",
         "[pd](#爱) [kz](a#我) [ka](#a)\n\n# pd\n\n# a\n"},
        {"# [我](#爱)\n\n# [爱](#我)\n", "# [pd](#爱)\n\n# [jg](#我)\n"},
        {"# 我[爱](#我爱)\n[我](#)\n", "# pd [jg](#我爱)\n[pd](#)\n"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_output(&o, MOCK_IDENTITY, cases[i].text, cases[i].text);
        expect_gloss(&o, cases[i].text, cases[i].expected);
    }
}
END_TEST

START_TEST(markdown_front_matter)
{
    static const char *const cases[] = {"--- \na: 我\n---\t\n", "+++\r\na = '我'\r\n+++\r\n",
                                        "{\n  \"a\": \"我\"\n}\n", "---\na: 我\n...\n"};
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128], expected[128];
        snprintf(text, sizeof text, "%s爱", cases[i]);
        snprintf(expected, sizeof expected, "%sjg", cases[i]);
        expect_gloss(&o, text, expected);
    }
    expect_gloss(&o, "---\n我", "---\npd");
}
END_TEST

/* One dash below the head of a column is enough. */
START_TEST(markdown_tables)
{
    static const char *const below[] = {"|-|-|",  "|---|---|", "-|-",        "|:-|-:|",
                                        "|--|:-", "| - | - |", "| -- |:-:|", "|-|-|\r"};
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        char text[128], expected[128];
        snprintf(text, sizeof text, "> 我\n\n|我|爱|\n%s\n|水|`|-|`|\n\n课", below[i]);
        snprintf(expected, sizeof expected, "> pd\n\n|pd|jg|\n%s\n|kz|`|-|`|\n\nka", below[i]);
        expect_gloss(&o, text, expected);
        expect_output(&o, MOCK_IDENTITY, text, text);
    }
    /* What only looks like it. */
    expect_gloss(&o, "```\n|-|\n```\n\n- |\n- 爱\n", "```\n|-|\n```\n\n- |\n- jg\n");
    expect_gloss(&o, "我\n|-|-|\n爱\n\n<div>\n|-|我\n|-|\n爱</div>\n",
                 "pd\n|-|-|\njg\n\n<div>\n|-| pd|-| jg</div>\n");
}
END_TEST

/* The gloss of a text that the definitions of its links follow. */
static void expect_defined(const char *text, const char *expected, const char *definitions)
{
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    char whole[256], whole_expected[256];
    snprintf(whole, sizeof whole, "%s%s", text, definitions);
    snprintf(whole_expected, sizeof whole_expected, "%s%s", expected, definitions);
    expect_output(&o, MOCK_IDENTITY, whole, whole);
    expect_gloss(&o, whole, whole_expected);
}

/* A link that is named by its text keeps the text as its label. */
START_TEST(markdown_labels)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"我[爱]水[课][]。", "pd [jg][爱] kz [ka][课]."},
        {"我[爱][abc]水", "pd [jg][abc] kz"},
        {"[爱]", "[jg][爱]"},
        {"> 我[**爱**\n> 水]", "> pd [**jg** kz][**爱**\n> 水]"},
        {"我[爱](水)", "pd [jg](水)"},
        {"[abc]我[abc][]", "[abc] pd [abc][]"},
        {"我![爱]水![课][]", "pd ![jg][爱] kz![ka][课]"},
        {"![爱]", "![jg][爱]"},
        {"![爱][abc]我![abc]", "![jg][abc]pd![abc]"},
        /* No links at all. */
        {"我[水]爱", "pd\\[ kz\\] jg"},
    };
    static const char definitions[] = "\n\n[爱]: a\n[课]: b\n[abc]: c\n[**爱** 水]: d\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_defined(cases[i].text, cases[i].expected, definitions);
}
END_TEST

START_TEST(markdown_leaves_code_alone)
{
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    const char *text = "---\ntitle: 我\n---\n```\n我\n```\n\n    爱\n\n[a]: http://我 \"水\"\n";
    expect_gloss(&o, text, text);
    expect_gloss(&o, "我 $a_1 + b_2$ 爱[^1]\n\n[^1]: 水\n[a]: b\n",
                 "pd $a_1 + b_2$ jg[^1]\n\n[^1]: kz\n[a]: b\n");
}
END_TEST

START_TEST(markdown_html)
{
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    expect_gloss(&o, "<p align=\"center\">\n我<b>爱</b>\n</p>\n\n水<br>课<kbd>A</kbd>\n",
                 "<p align=\"center\">\npd <b>jg</b>\n</p>\n\nkz<br>ka <kbd>A</kbd>\n");
    /* What HTML leaves alone is left alone here as well, if it ends. */
    expect_gloss(&o, "我<code>爱<br>*水*</code>课<b translate=\"no\">爱<code>水</code></b>\n",
                 "pd <code>爱<br>*水*</code> ka <b translate=\"no\">爱<code>水</code></b>\n");
    expect_gloss(&o, "我**爱<code>水**课\n", "pd**jg<code>kz**ka\n");
}
END_TEST

/* What is left alone stays byte for byte, images and all, however long it is. */
START_TEST(markdown_leaves_elements_alone)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"我<span translate=\"no\">![爱](a.png) 和 ![水] 与 [课]</span>爱![水](b.png)",
         "pd <span translate=\"no\">![爱](a.png) 和 ![水] 与 [课]</span> jg![kz](b.png)"},
        {"![爱](a)我<code>![水](b)<code>![水](c)</code>![水](d)</code>![课](e)",
         "![jg](a)pd <code>![水](b)<code>![水](c)</code>![水](d)</code>![ka](e)"},
        {"<code>![水](b)</code>\n\n![水](c)\n", "<code>![水](b)</code>\n\n![kz](c)\n"},
        /* Nothing is, where the element does not end. */
        {"我<code>爱![水](a)<code>课![水](b)</code>",
         "pd<code>jg ![kz](a) <code>课![水](b)</code>"},
        {"<i>我<code>爱</i>![水](a)", "<i>pd<code>jg</i>![kz](a)"},
        {"我</code>爱<code>水</code>", "pd</code>jg <code>水</code>"},
    };
    static const char definitions[] = "\n\n[水]: a\n[课]: b\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_defined(cases[i].text, cases[i].expected, definitions);
}
END_TEST

START_TEST(markdown_leaves_long_elements_alone)
{
    static const char *const bits[] = {"水，", "*水* ", "水。<br>"};
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        base_buffer text = {0}, expected = {0};
        ck_assert(base_buffer_append_string(&text, "我<span translate=\"no\">"));
        while (text.length < 10000)
            ck_assert(base_buffer_append_string(&text, bits[i]));
        ck_assert(base_buffer_append_string(&text, "</span>"));
        ck_assert(base_buffer_append_string(&expected, "pd "));
        ck_assert(base_buffer_append_string(&expected, text.data + strlen("我")));
        ck_assert(base_buffer_append_string(&text, "爱"));
        ck_assert(base_buffer_append_string(&expected, " jg"));
        expect_gloss(&o, text.data, expected.data);
        base_buffer_free(&text);
        base_buffer_free(&expected);
    }
}
END_TEST

/* A translation does not become markup. */
START_TEST(markdown_escapes)
{
    zhen_document_options o = format(ZHEN_FORMAT_MARKDOWN);
    expect_output(&o, MOCK_REVERSED, "我#\n", "\\# pd\n");
    expect_output(&o, MOCK_REVERSED, "我 * \n", "\\* pd \n");
    expect_gloss(&o, "*我* \\* *爱*\n", "*pd*\\* *jg*\n"); /* a text of its own */
    expect_gloss(&o, "我 \\* \\_ \\[爱\\] 2 \\< 3\n", "pd\\*\\_\\[ jg\\] 2\\< 3\n");
    expect_output(&o, MOCK_REVERSED, "我 1)\n", "\\) 1 pd\n" + 1);
}
END_TEST

/* ---- HTML --------------------------------------------------------------------------------- */

START_TEST(html_inlines)
{
    zhen_document_options o = format(ZHEN_FORMAT_HTML);
    expect_gloss(&o, "<p>我<b>爱</b><a href='x'>水<i>课</i></a>。</p>",
                 "<p>pd <b>jg</b> <a href='x'>kz <i>ka</i></a>.</p>");
    expect_output(&o, MOCK_REVERSED, "<p>我<b>爱</b><a href='x'>水<i>课</i></a>。</p>",
                  "<p>. <a href='x'><i>ka</i> kz</a> <b>jg</b> pd</p>");
    expect_gloss(&o, "<p>我<code>爱</code>水<br>课</p>", "<p>pd <code>爱</code> kz<br>ka</p>");
    expect_gloss(&o, "<p>我<sup><a href=#n>[1]</a></sup>爱</p>",
                 "<p>pd<sup><a href=#n>[1]</a></sup> jg</p>");
}
END_TEST

START_TEST(html_attributes)
{
    zhen_document_options o = format(ZHEN_FORMAT_HTML);
    expect_gloss(&o, "<html lang=\"zh-CN\"><p>我<img alt='爱' src=水>课",
                 "<html lang=\"en\"><p>pd <img alt='jg' src=水> ka");
    expect_gloss(&o, "<p title=\"我&quot;爱\">a", "<p title=\"pd&quot; jg\">a");
    expect_gloss(&o, "<p lang=\"zh\">abc", "<p lang=\"zh\">abc");
    /* Elements without prose have some as well, but what is in them stays Chinese. */
    expect_gloss(&o, "<textarea placeholder='我' lang=zh>爱</textarea><iframe title='水'></iframe>",
                 "<textarea placeholder='pd' lang=zh>爱</textarea><iframe title='kz'></iframe>");
    expect_gloss(&o, "<p>我<code title='爱'>水</code>课<pre translate=no title='我'>爱</pre>",
                 "<p>pd <code title='jg'>水</code> ka<pre translate=no title='我'>爱</pre>");
}
END_TEST

/* References that old pages write without a semicolon. */
START_TEST(html_unclosed_references)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"<p>我&nbsp爱&copy 水", "<p>pd&nbsp;jg&copy; kz"},
        {"<p>我&nbsp2课&#160爱&lt水&amp", "<p>pd&nbsp;2 ka&#160;jg&lt; kz&amp;"},
        {"<p title='我&nbsp爱'>", "<p title='pd&nbsp;jg'>"},
        /* These are none. */
        {"<p>我?a=1&copy=2&not_a&nbspx&b", "<p>pd? a= 1&amp; copy= 2&amp; not_a&amp; nbspx&amp; b"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_HTML);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_output(&o, MOCK_IDENTITY, cases[i].text, cases[i].text);
        expect_gloss(&o, cases[i].text, cases[i].expected);
    }
}
END_TEST

/* Word's smart tags stand in sentences. */
START_TEST(html_foreign_elements)
{
    zhen_document_options o = format(ZHEN_FORMAT_HTML);
    o.bilingual = ZHEN_BILINGUAL_TSV;
    expect_gloss(&o, "<p>我<st1:date>爱水</st1:date>课<o:p></o:p><my-card>我</my-card>",
                 "我爱水课\tpd jg kz ka\n我\tpd\n");
}
END_TEST

START_TEST(html_leaves_alone)
{
    zhen_document_options o = format(ZHEN_FORMAT_HTML);
    const char *text = "<script>'我<b>'</script><style>/*爱*/</style><pre>水<b>课</b></pre>"
                       "<p translate=no>我</p><!-- 爱 --><textarea>水</textarea>";
    expect_gloss(&o, text, text);
    /* Without an end tag, an element ends where HTML says. */
    expect_gloss(&o, "<p translate=no>我<p>爱<ul>\r\n<li class=notranslate>我<b>水</b><li>爱</ul>",
                 "<p translate=no>我<p>jg<ul>\r\n<li class=notranslate>我<b>水</b><li>jg</ul>");
    expect_gloss(&o, "<table><tr><td translate=no>我<td>爱<tr translate=no><td>水<td>课</table>爱",
                 "<table><tr><td translate=no>我<td>jg<tr translate=no><td>水<td>课</table>jg");
    expect_gloss(&o, "<p>我<img alt='爱' translate=no>水<code>课",
                 "<p>pd <img alt='爱' translate=no> kz <code> ka");
}
END_TEST

/* The nearest element that says whether to translate decides. */
START_TEST(html_says_what_to_translate)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"<body class=notranslate><p title='我'>我<img alt='爱'><div translate=yes title='水'>水"
         "<p>课</div>爱",
         "<body class=notranslate><p title='我'>我<img alt='爱'><div translate=yes title='kz'>kz"
         "<p>ka</div>爱"},
        {"<div translate=no>我<p>爱<span translate=''>水<b>课</b></span>我<input placeholder='爱' "
         "translate=yes></div>爱",
         "<div translate=no>我<p>爱<span translate=''>kz <b>ka</b></span>我<input placeholder='jg' "
         "translate=yes></div>jg"},
        {"<div translate=no>我<ul translate=yes><li>爱<li "
         "translate=no>水<p>课<li>课</ul>水</div>爱",
         "<div translate=no>我<ul translate=yes><li>jg<li "
         "translate=no>水<p>课<li>ka</ul>水</div>jg"},
        /* A <code> that does not end is a tag that somebody wrote about. */
        {"<p>我<code translate=no>爱<b>水</b>", "<p>pd <code translate=no> jg <b>kz</b>"},
        /* Code is kept, whatever is said in it. */
        {"<div translate=no><pre>我<b translate=yes>爱</b></pre><code>水<b translate=yes>课</b>"
         "</code></div><p>我<b translate=no>爱<i translate=yes>水</i></b>课",
         "<div translate=no><pre>我<b translate=yes>爱</b></pre><code>水<b translate=yes>课</b>"
         "</code></div><p>pd <b translate=no>爱<i translate=yes>水</i></b> ka"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_HTML);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_output(&o, MOCK_IDENTITY, cases[i].text, cases[i].text);
        expect_gloss(&o, cases[i].text, cases[i].expected);
    }
}
END_TEST

START_TEST(short_translations_fill_every_element)
{
    zhen_document_options o = format(ZHEN_FORMAT_HTML);
    /* One letter cannot fill two elements: the source is better than an empty one. */
    expect_output(&o, MOCK_SHORT, "<p><b>我</b><i>爱</i>水", "<p><b>我</b><i>爱</i>水");
    expect_output(&o, MOCK_SHORT, "<p><b>我<i>爱</i></b>水", "<p><b><i>x</i></b>");
    expect_output(&o, MOCK_EMPTY, "<p>我<code>x</code>", "<p>我<code>x</code>");
    /* One word can, letter by letter. */
    expect_output(&o, MOCK_DROPPING, "<p><b>我</b><i>爱</i>", "<p><b>p</b><i>d</i>");
}
END_TEST

START_TEST(xhtml_is_checked)
{
    zhen_document_options o = format(ZHEN_FORMAT_XHTML);
    expect_gloss(&o, "<p xml:lang='zh'>我&nbsp;<b>爱</b><br/>水</p>",
                 "<p xml:lang='en'>pd&nbsp;<b>jg</b><br/>kz</p>");
    expect_failure(&o, "<p>\n<b>我</p>", "file: line 2: not XML: mismatched tag");
}
END_TEST

/* ---- Subtitles ---------------------------------------------------------------------------- */

START_TEST(sentences_go_through_cues)
{
    zhen_document_options o = format(ZHEN_FORMAT_SRT);
    const char *text = "1\r\n00:00:01,000 --> 00:00:02,000\r\n我爱，\r\n\r\n"
                       "2\r\n00:00:02,100 --> 00:00:03,000\r\n{\\an8}<i>水课</i>。\r\n";
    expect_gloss(&o, text,
                 "1\r\n00:00:01,000 --> 00:00:02,000\r\npd jg,\r\n\r\n"
                 "2\r\n00:00:02,100 --> 00:00:03,000\r\n{\\an8}<i>kz ka</i>.\r\n");
    /* No cue stays empty, and cues keep their order, however the words went. */
    expect_output(&o, MOCK_REVERSED, text,
                  "1\r\n00:00:01,000 --> 00:00:02,000\r\n. ka kz\r\n\r\n"
                  "2\r\n00:00:02,100 --> 00:00:03,000\r\n{\\an8}, <i>jg</i> pd\r\n");
    o.bilingual = ZHEN_BILINGUAL_INTERLEAVED;
    expect_gloss(&o, text,
                 "1\r\n00:00:01,000 --> 00:00:02,000\r\n我爱，\r\npd jg,\r\n\r\n"
                 "2\r\n00:00:02,100 --> 00:00:03,000\r\n{\\an8}<i>水课</i>。\r\n<i>kz ka</i>.\r\n");
}
END_TEST

START_TEST(dialogues_stay_apart)
{
    zhen_document_options o = format(ZHEN_FORMAT_VTT);
    expect_gloss(&o, "WEBVTT\n\nNOTE 我\n\n00:01.000 --> 00:02.000\n- 我 &lt;\n- 爱\n",
                 "WEBVTT\n\nNOTE 我\n\n00:01.000 --> 00:02.000\n- pd&lt;\n- jg\n");
}
END_TEST

START_TEST(cues_are_told_apart)
{
    static const struct {
        zhen_format format;
        const char *text, *expected;
    } cases[] = {
        {ZHEN_FORMAT_VTT, "WEBVTT\n\n00:01.000 --> 00:02.000\n我\n00:02.500 --> 00:03.000\n爱\n",
         "WEBVTT\n\n00:01.000 --> 00:02.000\npd\n00:02.500 --> 00:03.000\njg\n"},
        {ZHEN_FORMAT_SRT,
         "1\n00:00:01,000 --> 00:00:02,000\n我\n7\n　\n2 \n00:00:02,500 --> 00:00:03,000\n爱",
         "1\n00:00:01,000 --> 00:00:02,000\npd 7\n　\n2 \n00:00:02,500 --> 00:00:03,000\njg"},
        /* An arrow may be text. */
        {ZHEN_FORMAT_SRT, "1\n00:00:01,000 --> 00:00:02,000\n我 --> 爱",
         "1\n00:00:01,000 --> 00:00:02,000\npd--> jg"},
        {ZHEN_FORMAT_SRT, "1\n00:00:01:000 --> 00:00:02:500\n我\n",
         "1\n00:00:01:000 --> 00:00:02:500\npd\n"},
        /* As may times, if no number comes before them. */
        {ZHEN_FORMAT_SRT, "1\n00:00:01,000 --> 00:00:02,000\n我\n1:20 --> 3:40 水。\n爱\n",
         "1\n00:00:01,000 --> 00:00:02,000\npd 1: 20--> 3: 40 kz.\njg\n"},
        {ZHEN_FORMAT_SRT, "1\n00:00:01,000 --> 00:00:02,000\n我\n1:20. --> 3:40,水\n",
         "1\n00:00:01,000 --> 00:00:02,000\npd 1: 20.--> 3: 40, kz\n"},
        {ZHEN_FORMAT_SRT, "1\n00:01 --> 00:02\n我\n2\n00:03 --> 00:04\n爱\n",
         "1\n00:01 --> 00:02\npd\n2\n00:03 --> 00:04\njg\n"},
        /* A voice that is not closed ends with its cue, whatever comes in the next. */
        {ZHEN_FORMAT_VTT,
         "WEBVTT\n\n00:01.000 --> 00:02.000\n我<v A>爱\n\n00:09.000 --> 00:10.000\n<v B>水</v>课\n",
         "WEBVTT\n\n00:01.000 --> 00:02.000\npd<v A> jg\n\n00:09.000 --> 00:10.000\n"
         "<v B>kz</v> ka\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zhen_document_options o = format(cases[i].format);
        expect_output(&o, MOCK_IDENTITY, cases[i].text, cases[i].text);
        expect_gloss(&o, cases[i].text, cases[i].expected);
    }
    zhen_document_options o = format(ZHEN_FORMAT_SRT);
    o.bilingual = ZHEN_BILINGUAL_INTERLEAVED;
    expect_gloss(&o, "1\n00:00:01,000 --> 00:00:02,000\n我\n　\n",
                 "1\n00:00:01,000 --> 00:00:02,000\n我\npd\n　\n");
}
END_TEST

/* A cue at `seconds` with this text. */
static void add_cue(base_buffer *file, int seconds, const char *text)
{
    char times[64];
    snprintf(times, sizeof times, "1\n00:00:%02d,000 --> 00:00:%02d,900\n", seconds, seconds);
    ck_assert(base_buffer_append_string(file, times) && base_buffer_append_string(file, text) &&
              base_buffer_append_string(file, "\n\n"));
}

START_TEST(lines_of_cues_are_told_apart)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"我爱\nI love", "pd jg\nI love"},
        {"I love\n我\n爱，", "I love\npd jg,"},
        {"<i>我爱</i>\n<b>7 loves</b>", "<i>pd jg</i>\n<b>7 loves</b>"},
        {"我爱\nこんにちは", "pd jg\nこんにちは"},
        {"我？\n爱。", "pd?\njg."},
        {"我\n爱。", "pd jg."},
        {"我\\N爱\\h水", "pd\\Njg\\hkz"},
        {"我>>\n>爱", "pd>>> jg"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_SRT);
    base_buffer text = {0}, expected = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        add_cue(&text, 3 * (int)i, cases[i].text);
        add_cue(&expected, 3 * (int)i, cases[i].expected);
    }
    expect_output(&o, MOCK_IDENTITY, text.data, text.data);
    expect_gloss(&o, text.data, expected.data);
    o.bilingual = ZHEN_BILINGUAL_INTERLEAVED;
    base_buffer_clear(&text);
    base_buffer_clear(&expected);
    add_cue(&text, 0, "我\nI");
    add_cue(&expected, 0, "我\nI\npd\nI");
    expect_gloss(&o, text.data, expected.data);
    base_buffer_free(&text);
    base_buffer_free(&expected);
}
END_TEST

/* Where cues are Chinese, a name in a line of its own is one of their words. */
START_TEST(names_in_lines_are_words)
{
    zhen_document_options o = format(ZHEN_FORMAT_SRT);
    base_buffer text = {0}, expected = {0};
    for (int i = 0; i < 15; i += 3) {
        add_cue(&text, i, i ? "我" : "我\nApple\n爱");
        add_cue(&expected, i, i ? "pd" : "pd Apple jg");
    }
    expect_gloss(&o, text.data, expected.data);
    base_buffer_free(&text);
    base_buffer_free(&expected);
}
END_TEST

START_TEST(headers_name_the_language)
{
    zhen_document_options o = format(ZHEN_FORMAT_VTT);
    expect_gloss(&o, "WEBVTT\r\nLanguage: zh\r\n\r\n00:01.000 --> 00:02.000\r\n我\r\nLanguage: zh",
                 "WEBVTT\r\nLanguage: en\r\n\r\n00:01.000 --> 00:02.000\r\npd\r\nLanguage: zh");
}
END_TEST

START_TEST(long_cues_are_broken)
{
    zhen_document_options o = format(ZHEN_FORMAT_SRT);
    expect_gloss(
        &o, "1\n00:00:01,000 --> 00:00:02,000\n我爱水课我爱水课我爱水课我爱水课\n",
        "1\n00:00:01,000 --> 00:00:02,000\npd jg kz ka pd jg kz ka\npd jg kz ka pd jg kz ka\n");
}
END_TEST

/* ---- Catalogues --------------------------------------------------------------------------- */

START_TEST(po_is_filled)
{
    zhen_document_options o = format(ZHEN_FORMAT_PO);
    expect_gloss(
        &o,
        "msgid \"\"\nmsgstr \"\"\n\"Language: zh\\n\"\n\n#: a.c:1\nmsgid \"我 %s\"\nmsgstr \"\"\n",
        "msgid \"\"\nmsgstr \"\"\n\"Language: en\\n\"\n\n#: a.c:1\n#, fuzzy\nmsgid \"我 "
        "%s\"\nmsgstr \"pd %s\"\n");
    expect_gloss(
        &o, "#, c-format\nmsgid \"\"\n\"我\\n\"\n\"爱\"\nmsgstr \"\"\n",
        "#, fuzzy, c-format\nmsgid \"\"\n\"我\\n\"\n\"爱\"\nmsgstr \"\"\n\"pd\\n\"\n\"jg\"\n");
    expect_gloss(
        &o, "msgid \"我\"\nmsgid_plural \"爱\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n",
        "#, fuzzy\nmsgid \"我\"\nmsgid_plural \"爱\"\nmsgstr[0] \"pd\"\nmsgstr[1] \"jg\"\n");
    expect_gloss(&o, "#, fuzzy\n#, c-format\nmsgid \"我\"\nmsgstr \"\"\n",
                 "#, fuzzy\n#, c-format\nmsgid \"我\"\nmsgstr \"pd\"\n");
    expect_gloss(&o, "msgid \"我\\n爱\"\r\nmsgstr \"\"\r\n",
                 "#, fuzzy\r\nmsgid \"我\\n爱\"\r\nmsgstr \"\"\r\n\"pd\\n\"\r\n\"jg\"\r\n");
    expect_gloss(&o, "msgid \"我(&O)\\tCtrl+O\"\nmsgstr \"\"\n",
                 "#, fuzzy\nmsgid \"我(&O)\\tCtrl+O\"\nmsgstr \"pd(& O)\\tCtrl+O\"\n");
}
END_TEST

START_TEST(po_leaves_alone)
{
    zhen_document_options o = format(ZHEN_FORMAT_PO);
    const char *text = "msgid \"我\"\nmsgstr \"I\"\n\nmsgid \"abc\"\nmsgstr \"\"\n\n"
                       "#~ msgid \"爱\"\n#~ msgstr \"\"\n";
    expect_gloss(&o, text, text);
    expect_failure(&o, "msgid \"a\"\nmsgstr \"b\n", "file: line 2: not PO: a string does not end");
    expect_failure(&o, "\nfoo\n", "file: line 2: not PO: msgid or msgstr is expected");
}
END_TEST

START_TEST(xliff_is_filled)
{
    zhen_document_options o = format(ZHEN_FORMAT_XLIFF);
    expect_gloss(&o,
                 "<xliff version='1.2'><file><trans-unit><source>我<g "
                 "id='1'>爱</g></source></trans-unit></file></xliff>",
                 "<xliff version='1.2'><file target-language=\"en\"><trans-unit><source>我<g "
                 "id='1'>爱</g></source>"
                 "<target state=\"needs-review-translation\">pd <g "
                 "id='1'>jg</g></target></trans-unit></file></xliff>");
    expect_gloss(&o,
                 "<xliff version='2.0' trgLang='en'><segment>\n  <source>我<ph id='1'/></source>\n "
                 " <target/></segment></xliff>",
                 "<xliff version='2.0' trgLang='en'><segment>\n  <source>我<ph id='1'/></source>\n "
                 " <target>pd <ph id='1'/></target></segment></xliff>");
    const char *done = "<xliff version='1.2'><trans-unit><source>我</source><target>I</target>"
                       "<alt-trans><source>爱</source><target/></alt-trans></trans-unit></xliff>";
    expect_gloss(&o, done, done);
}
END_TEST

/* What the programs write that make such files. */
START_TEST(xliff_of_other_programs)
{
    static const char head[] = "<xliff version='1.2'><trans-unit>",
                      tail[] = "</trans-unit></xliff>";
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"<source><![CDATA[我<b>爱</b>&]]></source><target/>",
         "<source><![CDATA[我<b>爱</b>&]]></source><target><![CDATA[pd <b>jg</b>&]]></target>"},
        {"<source>我</source><seg-source><mrk mtype='seg' mid='1'>我</mrk></seg-source>"
         "<target><mrk mtype='seg' mid='1'/></target>",
         "<source>我</source><seg-source><mrk mtype='seg' mid='1'>我</mrk></seg-source>"
         "<target><mrk mtype='seg' mid='1'>pd</mrk></target>"},
        {"<source>我爱</source><seg-source><mrk mtype='seg' mid='1'>我</mrk><mrk mtype='seg' "
         "mid='2'><g id='1'>爱</g>水</mrk></seg-source>",
         "<source>我爱</source><seg-source><mrk mtype='seg' mid='1'>我</mrk><mrk mtype='seg' "
         "mid='2'><g id='1'>爱</g>水</mrk></seg-source><target "
         "state=\"needs-review-translation\"><mrk mtype='seg' mid='1'>pd</mrk><mrk mtype='seg' "
         "mid='2'><g id='1'>jg</g> kz</mrk></target>"},
        {"<source xml:space='preserve'>我\n  爱\n</source><target></target>",
         "<source xml:space='preserve'>我\n  爱\n</source><target>pd\n  jg\n</target>"},
        {"<source>我\n  爱</source><target></target>",
         "<source>我\n  爱</source><target>pd jg</target>"},
        {"<source>我</source><target state='needs-translation'/>",
         "<source>我</source><target state='needs-review-translation'>pd</target>"},
        {"<source>我</source><target a='b' state='new'>我</target>",
         "<source>我</source><target a='b' state='needs-review-translation'>pd</target>"},
        {"<source>我</source><target state='final'>我</target>",
         "<source>我</source><target state='final'>我</target>"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_XLIFF);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], expected[1024];
        snprintf(text, sizeof text, "%s%s%s", head, cases[i].text, tail);
        snprintf(expected, sizeof expected, "%s%s%s", head, cases[i].expected, tail);
        expect_gloss(&o, text, expected);
    }
    const char *approved = "<xliff version='1.2'><trans-unit approved='yes'><source>我</source>"
                           "<target>我</target></trans-unit></xliff>";
    expect_gloss(&o, approved, approved);
    expect_gloss(&o,
                 "<xliff version='2.0' trgLang='en-GB'><unit xml:space='preserve'><segment "
                 "state='initial'><source>我\n爱</source></segment><segment state='final'>"
                 "<source>我</source><target>我</target></segment></unit></xliff>",
                 "<xliff version='2.0' trgLang='en-GB'><unit xml:space='preserve'><segment "
                 "state='translated'><source>我\n爱</source><target>pd\njg</target></segment>"
                 "<segment state='final'>"
                 "<source>我</source><target>我</target></segment></unit></xliff>");
    /* A translation does not end the section. */
    base_buffer out = {0};
    ck_assert(doc_escape_cdata(&out, "a]]", 3) && doc_escape_cdata(&out, ">\1&", 3));
    ck_assert_str_eq(out.data, "a]] > &");
    base_buffer_free(&out);
}
END_TEST

START_TEST(xliff_for_other_languages)
{
    zhen_document_options o = format(ZHEN_FORMAT_XLIFF);
    expect_failure(&o,
                   "<xliff version='1.2'>\n<file target-language='fr'><trans-unit><source>我"
                   "</source></trans-unit></file></xliff>",
                   "file: line 2: the targets are to be in another language than English");
    const char *done = "<xliff version='1.2'><file target-language='zh'><trans-unit><source>I"
                       "</source></trans-unit></file></xliff>";
    expect_gloss(&o, done, done);
}
END_TEST

/* The nearest element that says whether to translate decides. */
START_TEST(xliff_says_what_to_translate)
{
    zhen_document_options o = format(ZHEN_FORMAT_XLIFF);
    const char *left = "<xliff version='1.2'><group translate='no'><trans-unit><source>我</source>"
                       "<target/></trans-unit></group></xliff>";
    expect_gloss(&o, left, left);
    expect_gloss(&o,
                 "<xliff version='2.0' trgLang='en'><file translate='no'><unit><segment>"
                 "<source>我</source><target/></segment></unit><unit translate='yes'><segment>"
                 "<source>我</source><target/></segment></unit></file><file><segment>"
                 "<source>我</source><target/></segment></file></xliff>",
                 "<xliff version='2.0' trgLang='en'><file translate='no'><unit><segment>"
                 "<source>我</source><target/></segment></unit><unit translate='yes'><segment>"
                 "<source>我</source><target>pd</target></segment></unit></file><file><segment>"
                 "<source>我</source><target>pd</target></segment></file></xliff>");
}
END_TEST

/* ---- Data --------------------------------------------------------------------------------- */

START_TEST(json_strings)
{
    zhen_document_options o = format(ZHEN_FORMAT_JSON);
    expect_gloss(&o, "{\"我\": [\"爱\\n\\u6c34\", 1e-3, null], \"b\": \"课 \\\"x\\\"\"}",
                 "{\"我\": [\"jg\\nkz\", 1e-3, null], \"b\": \"ka\\\" x\\\"\"}");
    expect_failure(&o, "{\n\"a\": 01}", "file: line 2: not JSON: a comma or } is expected");
    expect_failure(&o, " \n", "file: line 2: not JSON: a value is expected");
}
END_TEST

START_TEST(json_paths)
{
    static const struct {
        const char *path, *expected;
    } cases[] = {
        {"a", "{\"a\":\"pd\",\"b\":[{\"a\":\"爱\",\"c\":\"水\"},\"课\"]}"},
        {"$..a", "{\"a\":\"pd\",\"b\":[{\"a\":\"jg\",\"c\":\"水\"},\"课\"]}"},
        {"b[*].c", "{\"a\":\"我\",\"b\":[{\"a\":\"爱\",\"c\":\"kz\"},\"课\"]}"},
        {"$.b[1]", "{\"a\":\"我\",\"b\":[{\"a\":\"爱\",\"c\":\"水\"},\"ka\"]}"},
        {"b[0], a", "{\"a\":\"pd\",\"b\":[{\"a\":\"jg\",\"c\":\"kz\"},\"课\"]}"},
        {"['b'][0].*", "{\"a\":\"我\",\"b\":[{\"a\":\"jg\",\"c\":\"kz\"},\"课\"]}"},
        {" $.a , b[0].c ", "{\"a\":\"pd\",\"b\":[{\"a\":\"爱\",\"c\":\"kz\"},\"课\"]}"},
        {"b[0].* , x", "{\"a\":\"我\",\"b\":[{\"a\":\"jg\",\"c\":\"kz\"},\"课\"]}"},
        {"x, $ ", "{\"a\":\"pd\",\"b\":[{\"a\":\"jg\",\"c\":\"kz\"},\"ka\"]}"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_JSON);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        o.json_path = cases[i].path;
        expect_gloss(&o, "{\"a\":\"我\",\"b\":[{\"a\":\"爱\",\"c\":\"水\"},\"课\"]}",
                     cases[i].expected);
    }
    /* Names are what they say, however they are spelled. */
    o.json_path = "我.😀\"";
    expect_gloss(&o, "{\"\\u6211\": {\"\\ud83d\\uDE00\\\"\": \"爱\"}, \"\\\\u6211\": \"水\"}",
                 "{\"\\u6211\": {\"\\ud83d\\uDE00\\\"\": \"jg\"}, \"\\\\u6211\": \"水\"}");
    o.json_path = "a b['c '].d";
    expect_gloss(&o, "{\"a b\":{\"c \":{\"d\":\"爱\"},\"c\":{\"d\":\"水\"}}}",
                 "{\"a b\":{\"c \":{\"d\":\"jg\"},\"c\":{\"d\":\"水\"}}}");
    o.json_path = "a[";
    expect_failure(&o, "{}", "JSON path a[: not understood at \"[\"");
    /* An empty path would mean everything. */
    o.json_path = "a, ";
    expect_failure(&o, "{}", "JSON path a, : a path is empty");
    o.json_path = "a,,b";
    expect_failure(&o, "{}", "JSON path a,,b: a path is empty");
    o.json_path = "";
    expect_failure(&o, "{}", "JSON path : a path is empty");
    o.json_path = "a. ";
    expect_failure(&o, "{}", "JSON path a. : not understood at \" \"");
}
END_TEST

START_TEST(json_lines)
{
    zhen_document_options o = format(ZHEN_FORMAT_JSONL);
    o.chunk_bytes = 1;
    expect_gloss(&o, "{\"a\":\"我\"}\r\n\n[\"爱\"]", "{\"a\":\"pd\"}\r\n\n[\"jg\"]");
    expect_failure(&o, "1\n2\n{]\n", "file: line 3: not JSON: a member's name is expected");
}
END_TEST

START_TEST(csv_quoting)
{
    zhen_document_options o = format(ZHEN_FORMAT_CSV);
    expect_gloss(&o, "我,\"爱\"\"水\",课，我,a\r\n\"我\n爱\",\r\n",
                 "pd,\"jg\"\" kz\",\"ka, pd\",a\r\n\"pd\njg\",\r\n");
    expect_failure(&o, "a\n\"b\nc", "file: line 2: a quoted field does not end");
}
END_TEST

START_TEST(what_is_too_large_is_refused)
{
    char text[200] = "我\n\"";
    memset(text + strlen(text), 'x', sizeof text - 1 - strlen(text));
    zhen_document_options o = format(ZHEN_FORMAT_HTML);
    o.most_bytes = 150;
    expect_failure(&o, text, "file: longer than 150 bytes, the most for one document");
    o = format(ZHEN_FORMAT_CSV);
    o.most_bytes = 150;
    o.chunk_bytes = 1;
    expect_failure(&o, text, "file: line 2: longer than 150 bytes (is a quote not closed?)");
    o.format = ZHEN_FORMAT_TSV;
    expect_failure(&o, text, "file: line 2: longer than 150 bytes (is a quote not closed?)");
    o.most_bytes = 200;
    expect_gloss(&o, "我\n", "pd\n");
    /* Quotes count at the beginning of a field only. */
    o.format = ZHEN_FORMAT_CSV;
    o.most_bytes = 40;
    expect_gloss(&o, "1,5\"\"\n\"a\"\"\n\",\"b\"c\"\"\n我,爱爱爱爱爱爱爱爱爱爱\n水,课\n",
                 "1,5\"\"\n\"a\"\"\n\",\"b\"c\"\"\npd,jg jg jg jg jg jg jg jg jg jg\nkz,ka\n");
}
END_TEST

START_TEST(csv_columns)
{
    zhen_document_options o = format(ZHEN_FORMAT_CSV);
    for (o.chunk_bytes = 1; o.chunk_bytes < 40; o.chunk_bytes += 9) {
        o.columns = "2";
        expect_gloss(&o, "我,爱\n水,课\n", "我,jg\n水,ka\n");
        o.columns = "none, 爱";
        expect_gloss(&o, "我,爱\n水,课\n课,水\n", "我,爱\n水,ka\n课,kz\n");
        o.columns = " 1 , 3 ";
        expect_gloss(&o, "我,爱,水\n水,课,我\n", "pd,爱,kz\nkz,课,pd\n");
        o.columns = "1,";
        expect_gloss(&o, "我,爱\n水,课\n", "pd,爱\nkz,课\n");
        /* No list of numbers, but a name. */
        o.columns = "2020 1";
        expect_gloss(&o, "2020,2020 1\n水,课\n", "2020,2020 1\n水,ka\n");
    }
    o.columns = "none";
    expect_failure(&o, "我,爱\n", "columns none: the first line has none of them");
    o.columns = "0";
    expect_failure(&o, "我,爱\n", "columns 0: numbers go from 1 to 65536");
}
END_TEST

START_TEST(csv_separators)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"我;爱\n\"水;课\";我，爱\r\n", "pd;jg\n\"kz; ka\";\"pd, jg\"\r\n"},
        {"我\t爱\n\"水\t课\"\t我\n", "pd\tjg\n\"kz\tka\"\tpd\n"},
        {"sep=|\r\n我|爱,水\n", "sep=|\r\npd|\"jg, kz\"\n"},
        {"\xEF\xBB\xBF\"我\n;;;爱\",水;课\n", "\xEF\xBB\xBF\"pd\n;;; jg\",kz; ka\n"},
        {"我\n爱;水\n", "pd\njg; kz\n"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_CSV);
    for (o.chunk_bytes = 0; o.chunk_bytes < 10; o.chunk_bytes += 3)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            expect_output(&o, MOCK_IDENTITY, cases[i].text, cases[i].text);
            expect_gloss(&o, cases[i].text, cases[i].expected);
        }
    o.columns = "爱";
    expect_gloss(&o, "sep=;\n我;爱\n水;课\n", "sep=;\n我;爱\n水;ka\n");
}
END_TEST

START_TEST(tsv_quoting)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"我\t\"爱\t水\n课", "pd\t\" jg\tkz\nka"},
        {"\"我\"\"爱\"\t水\n", "\"pd\"\" jg\"\tkz\n"},
        {"\"我\n爱\"\r\n水\t\"课\"", "\"pd\njg\"\r\nkz\t\"ka\""},
        {"\"我\"爱\t水\"\n", "\" pd\" jg\tkz\"\n"},
        {"\"我\t爱\"\n水\n", "\" pd\tjg\"\nkz\n"},
    };
    zhen_document_options o = format(ZHEN_FORMAT_TSV);
    for (o.chunk_bytes = 0; o.chunk_bytes < 10; o.chunk_bytes += 3)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            expect_output(&o, MOCK_IDENTITY, cases[i].text, cases[i].text);
            expect_gloss(&o, cases[i].text, cases[i].expected);
        }
    /* A quote that means nothing holds nothing up. */
    base_buffer text = {0}, expected = {0};
    ck_assert(base_buffer_append_string(&text, "\"我\n") &&
              base_buffer_append_string(&expected, "\" pd\n"));
    while (text.length < 200000)
        ck_assert(base_buffer_append_string(&text, "爱\n") &&
                  base_buffer_append_string(&expected, "jg\n"));
    o.most_bytes = 100000;
    o.chunk_bytes = 1000;
    expect_gloss(&o, text.data, expected.data);
    base_buffer_free(&text);
    base_buffer_free(&expected);
}
END_TEST

/* Tabs set columns apart. */
START_TEST(tabs_stay)
{
    zhen_document_options o = format(ZHEN_FORMAT_TEXT);
    expect_gloss(&o, "我\t爱 水\t\tabc\n", "pd\tjg kz\t\tabc\n");
    o.paragraphs = true;
    expect_gloss(&o, "我\t爱\n水\n", "pd\tjg kz\n");
    o = format(ZHEN_FORMAT_JSON);
    expect_gloss(&o, "\"我\\t爱\"", "\"pd\\tjg\"");
    o = format(ZHEN_FORMAT_CSV);
    expect_gloss(&o, "我\t爱,水\n", "pd\tjg,kz\n");
}
END_TEST

/* ---- Names -------------------------------------------------------------------------------- */

START_TEST(formats_have_names)
{
    zhen_format f;
    for (int i = ZHEN_FORMAT_TEXT; i <= ZHEN_FORMAT_XLIFF; i++) {
        ck_assert(zhen_format_from_name(zhen_format_name((zhen_format)i), &f));
        ck_assert_int_eq((int)f, i);
    }
    ck_assert(zhen_format_from_path("a.b/c.tar.MD", &f) && f == ZHEN_FORMAT_MARKDOWN);
    ck_assert(zhen_format_from_path("x.xlf", &f) && f == ZHEN_FORMAT_XLIFF);
    ck_assert(!zhen_format_from_path("a.md/c", &f));
    ck_assert(!zhen_format_from_path("a.xyz", &f));
    ck_assert(!zhen_format_from_name("docx", &f));
}
END_TEST

START_TEST(options_are_checked)
{
    zhen_document_options o = format(ZHEN_FORMAT_HTML);
    o.bilingual = ZHEN_BILINGUAL_INTERLEAVED;
    expect_failure(&o, "", "html cannot hold two languages side by side; ask for them as TSV");
    o = format(ZHEN_FORMAT_TEXT);
    o.encoding = "klingon";
    expect_failure(&o, "", "encoding klingon is not known");
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {&lines_are_texts,
                                                &paragraphs_are_joined,
                                                &two_languages_in_text,
                                                &pairs_show_words,
                                                &words_are_protected,
                                                &symbols_are_protected,
                                                &prices_and_percentages_are_text,
                                                &stand_ins_are_repaired,
                                                &sentences_are_located,
                                                &markdown_inlines,
                                                &markdown_labels,
                                                &markdown_emphasis_beside_chinese,
                                                &markdown_extensions,
                                                &markdown_links_to_headings,
                                                &markdown_front_matter,
                                                &markdown_tables,
                                                &markdown_leaves_code_alone,
                                                &markdown_html,
                                                &markdown_leaves_elements_alone,
                                                &markdown_leaves_long_elements_alone,
                                                &markdown_escapes,
                                                &html_inlines,
                                                &html_attributes,
                                                &html_unclosed_references,
                                                &html_foreign_elements,
                                                &html_leaves_alone,
                                                &html_says_what_to_translate,
                                                &short_translations_fill_every_element,
                                                &xhtml_is_checked,
                                                &sentences_go_through_cues,
                                                &dialogues_stay_apart,
                                                &cues_are_told_apart,
                                                &lines_of_cues_are_told_apart,
                                                &names_in_lines_are_words,
                                                &headers_name_the_language,
                                                &long_cues_are_broken,
                                                &po_is_filled,
                                                &po_leaves_alone,
                                                &xliff_is_filled,
                                                &xliff_of_other_programs,
                                                &xliff_for_other_languages,
                                                &xliff_says_what_to_translate,
                                                &json_strings,
                                                &json_paths,
                                                &json_lines,
                                                &csv_quoting,
                                                &what_is_too_large_is_refused,
                                                &csv_columns,
                                                &csv_separators,
                                                &tsv_quoting,
                                                &tabs_stay,
                                                &formats_have_names,
                                                &options_are_checked};
    TCase *group = tcase_create("formats");
    tcase_set_timeout(group, 0);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(group, *tests[i]);
    return run_group("document/formats", group);
}
