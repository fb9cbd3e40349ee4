/*
 * What is protected and what is not, and where it comes out.
 */
#include "document/translate.h"

#include "base/buffer.h"
#include "document/frames.h"
#include "document/protect.h"
#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

/* A text and the runs of it that are protected, with a | after each. */
typedef struct protected_case {
    const char *text, *runs;
} protected_case;

static void expect_protected(unsigned which, const protected_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = cases[i].text;
        base_buffer runs = {0};
        doc_protected found;
        ck_assert(base_buffer_reserve(&runs, 0));
        for (size_t at = 0, length = strlen(text);
             doc_protect_next(text, length, at, which, &found); at = found.end) {
            ck_assert(base_buffer_append(&runs, text + found.begin, found.end - found.begin));
            ck_assert(base_buffer_append_byte(&runs, '|'));
        }
        ck_assert_msg(strcmp(runs.data, cases[i].runs) == 0, "%s: %s, not %s", text, runs.data,
                      cases[i].runs);
        base_buffer_free(&runs);
    }
}

#define EXPECT_PROTECTED(which, cases) \
    expect_protected(which, cases, sizeof(cases) / sizeof *(cases))

START_TEST(long_numbers)
{
    static const protected_case cases[] = {
        {"身份证号110101199001011234。", "110101199001011234|"},
        {"IP地址：192.168.1.1:8080，掩码10.0.0.0/8", "192.168.1.1:8080|10.0.0.0/8|"},
        {"MAC地址：00:1A:2B:3C:4D:5E或00-11-22-33-44-55", "00:1A:2B:3C:4D:5E|00-11-22-33-44-55|"},
        {"编号550e8400-e29b-41d4-a716-446655440000，fe80::1",
         "550e8400-e29b-41d4-a716-446655440000|fe80::1|"},
        {"张三（13800138000）或+86-138-0013-8000、138 0013 8000",
         "13800138000|+86-138-0013-8000|138 0013 8000|"},
        {"电话010-12345678，微信号：abc_123", "010-12345678|abc_123|"},
        {"调用get_user_name()和main()，见__init__", "get_user_name()|main()|__init__|"},
        {"共1,234,567元，面积9,600,000平方公里", "1,234,567|9,600,000|"},
        {"QQ:123456789微信:abc_123，ID:1234567", "123456789|abc_123|1234567|"},
        {"连接localhost:27017，在a:1234567", "localhost:27017|a:1234567|"},
        {"型号AB123456，1234567,7654321", "AB123456|1234567|7654321|"},
    };
    EXPECT_PROTECTED(DOC_PROTECT_ALL, cases);
}
END_TEST

START_TEST(quantities_and_dates_are_translated)
{
    static const protected_case cases[] = {
        {"1,234元，123456人，3.1415，12.5万，1234567万，1,234,567亿", ""},
        {"1939-1945年，2023-10-01，2023.10.01-2023.12.31，20231001年", ""},
        {"12:30:45，10:30-11:45，2008 2012 2016年，100 200 300", ""},
        {"COVID-19、H1N1、A380、ISO9001、5GHz、12345km、1990s、1.2.3", ""},
        {"姓名____，A-B-C，好-好，std::vector，256.1.1.1，1.2.3.4.5", ""},
        {"10 10 10 10 10 10 10 10 10 10", ""},
        {"见第3.1.2.1节和3.1.2.2条，4.3.2.1版，第1.2.3.4", ""},
    };
    EXPECT_PROTECTED(DOC_PROTECT_ALL, cases);
}
END_TEST

/* Whatever a model makes of its stand-in. */
START_TEST(long_numbers_survive)
{
    zhen_document_options o;
    zhen_document_options_init(&o, ZHEN_FORMAT_TEXT);
    expect_output(&o, MOCK_GLOSS, "我110101199001011234爱。", "pd 110101199001011234 jg.");
    expect_output(&o, MOCK_DROPPING, "我 192.168.1.1 爱", "pd 192.168.1.1 jg");
    expect_output(&o, MOCK_SHORT, "我abc_123爱", "abc_123 x");
}
END_TEST

START_TEST(addresses_hold_chinese)
{
    static const protected_case cases[] = {
        {"请看 https://zh.wikipedia.org/wiki/中国", "https://zh.wikipedia.org/wiki/中国|"},
        {"访问 https://a.cn/路径?q=查询#标题_一 查看", "https://a.cn/路径?q=查询#标题_一|"},
        {"下载https://a.b/中文.zip。", "https://a.b/中文.zip|"},
        {"在/home/user/文档/a.txt里", "/home/user/文档/a.txt|"},
        {"在C:\\Users\\张三\\文档里。", "C:\\Users\\张三\\|"},
        {"“报告.docx”和《第1章.pdf》", "报告.docx|第1章.pdf|"},
        /* Chinese begins here. */
        {"请看https://a.b/wiki/中国是，在https://a.b/", "https://a.b/wiki/|https://a.b/|"},
        {"官网https://example.com/(中文)", "https://example.com/|"},
        {"请打开报告.docx，“报告.第二”", ""},
        {"和/或/与，/男/女，修改/etc/或/usr/a", "/etc/|/usr/a|"},
    };
    EXPECT_PROTECTED(DOC_PROTECT_ALL, cases);
}
END_TEST

START_TEST(domain_names)
{
    static const protected_case cases[] = {
        {"在so.com上，见mail.qq.com。", "so.com|mail.qq.com|"},
        {"在 example.com:8080/a?b=c，a.cn/中国/b", "example.com:8080/a?b=c|a.cn/中国/b|"},
        {"a.com2，Hello.World，用Vue.x，3.5，com", ""},
    };
    EXPECT_PROTECTED(DOC_PROTECT_ALL, cases);
}
END_TEST

START_TEST(placeholders)
{
    static const protected_case cases[] = {
        {"共%dMB，%ds，%1$dpx，第%1个，%L2/%12，%lu", "%d|%d|%1$d|%1|%L2|%12|%lu|"},
        {"100%的，5%sugar，5 %sugar，% d，%中", ""},
        {"欢迎，:name，共:count条，:app_name: 好", ":name|:count|:app_name:|"},
        {"姓名:name，时间:12:30:45，a::b，:x=1", ""},
        {"见$t(app.price)和$tc(a, {n: 1})，@:common.help。@.lower:a.b.",
         "$t(app.price)|$tc(a, {n: 1})|@:common.help|@.lower:a.b|"},
        {"第%d页 :rocket: 好:+1:，见:ref:`名字`和$p(x|z)$",
         "%d|:rocket:|:+1:|:ref:`名字`|$p(x|z)$|"},
        {"{{< figure src=\"/a.png\" title=\"架构图\" >}}和{{% note \"注意\" %}}",
         "{{< figure src=\"/a.png\" title=\"架构图\" >}}|{{% note \"注意\" %}}|"},
        {"{% if 条件 %}是{% endif %}<%= link %>[sound:北京.mp3]",
         "{% if 条件 %}|{% endif %}|<%= link %>|[sound:北京.mp3]|"},
        {"${姓名}，{{ 公司.名称 }}，#{x}，%{数量}", "${姓名}|{{ 公司.名称 }}|#{x}|%{数量}|"},
        {"{注意}，{{这是，说明}}，${", ""},
    };
    EXPECT_PROTECTED(DOC_PROTECT_ALL, cases);
    static const protected_case formulas[] = {
        {"速度$v_{平均}$与$$\\text{总和} + {1}$$", "$v_{平均}$|$$\\text{总和} + {1}$$|"},
        {"花$5 和{中文}，$变量{a}$，${姓名}${年龄}", ""},
    };
    EXPECT_PROTECTED(DOC_PROTECT_NOTES, formulas);
}
END_TEST

START_TEST(tags_and_comparisons)
{
    static const protected_case cases[] = {
        {"<b>粗</b>，<a href=\"x\" title='题'>a</a>OK<br>好<br/>和<1>登录</1>",
         "<b>|</b>|<a href=\"x\" title='题'>|</a>|<br>|<br/>|<1>|</1>|"},
        {"<el-input v-model=\"a\" />Hello<b>世界</b><android.view.View></v>",
         "<el-input v-model=\"a\" />|<b>|</b>|<android.view.View>|</v>|"},
        {"如果a<b，那么c>d；i<n时，j>m；i<n 且 j>m；i <n 且j>m", ""},
        {"包含<stdio.h>，Result<T, E>，<https://a.b/c>", "<stdio.h>|<T, E>|<https://a.b/c>|"},
        {"点击<OK按钮>，<中文>，<，<1 2>，3<4>", "<4>|"},
    };
    EXPECT_PROTECTED(DOC_PROTECT_ALL, cases);
}
END_TEST

/* Tags in strings are elements: no pair comes out empty. */
START_TEST(tags_enclose_words)
{
    zhen_document_options o;
    zhen_document_options_init(&o, ZHEN_FORMAT_JSON);
    o.name = "file";
    expect_gloss(&o, "[\"我<b>爱</b>水\"]", "[\"pd <b>jg</b> kz\"]");
    expect_output(&o, MOCK_REVERSED, "[\"我<1>爱</1><a href=\\\"x\\\">水</a>\"]",
                  "[\"<a href=\\\"x\\\">kz</a> <1>jg</1> pd\"]");
    expect_gloss(&o, "[\"我<b>OK</b>爱<br class=\\\"x\\\">水\"]",
                 "[\"pd <b>OK</b> jg<br class=\\\"x\\\">kz\"]");
    /* Without partners they have a place all the same. */
    expect_gloss(&o, "[\"我<b>爱</i>水<u>课<b></u>水\"]", "[\"pd<b> jg</i> kz <u>ka<b></u> kz\"]");
    /* What the document's own elements are is not theirs. */
    zhen_document_options_init(&o, ZHEN_FORMAT_HTML);
    expect_gloss(&o, "<p>我&lt;b&gt;<b>爱&lt;/b&gt;</b>水</p>",
                 "<p>pd&lt;b&gt; <b>jg&lt;/b&gt;</b> kz</p>");
}
END_TEST

START_TEST(symbols)
{
    static const protected_case cases[] = {
        {"文件→打印=>设置➜好➡️完", "→|➜|➡️|"},
        {"按⇧⌘P或⌥键", "⇧⌘P|⌥|"},
        {"├── 目录│名称│──┼──", "├──|│|│──┼──|"},
        {"温度≥30.5度，x≤5，↑5%，≥30万，a≠b²，∴水", "≥30.5|≤5|↑5%|≥|≠b²|∴|"},
        {"他在△△公司，○ 是　● 否，爱†，二○○八年", "△△|●|†|"},
        {"3−2，1∶2，好──好，★", "★|"},
    };
    EXPECT_PROTECTED(DOC_PROTECT_SYMBOLS, cases);
}
END_TEST

/* What is protected and parts texts, with a | after each. */
START_TEST(arrows_part_labels)
{
    static const protected_case cases[] = {
        {"文件→打印", "→|"},
        {"路径：设置 → Microsoft Word 2010 → 网络", "→|→|"},
        {"请打开【设置】→【网络】，然后重启。", "→|"},
        {"“打开”→“保存”是两个步骤。", "→|"},
        /* Not in sentences. */
        {"按→键前进。用→表示跳转，从100元→200元，涨了。", ""},
        {"从北京→上海的高铁一共需要四个小时", ""},
        {"A→B→C是正确的顺序。H2+O2→H2O是化学反应。", ""},
        {"方向键←→移动角色", ""},
        {"按→键前进", ""},
        {"→打印", ""},
        {"打印→", ""},
        {"文件→→打印", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        base_buffer breaks = {0};
        doc_protected found;
        ck_assert(base_buffer_reserve(&breaks, 0));
        for (size_t at = 0, length = strlen(text);
             doc_protect_next(text, length, at, DOC_PROTECT_SYMBOLS, &found); at = found.end) {
            if (found.kind != DOC_EVENT_BREAK)
                continue;
            ck_assert(base_buffer_append(&breaks, text + found.begin, found.end - found.begin));
            ck_assert(base_buffer_append_byte(&breaks, '|'));
        }
        ck_assert_msg(strcmp(breaks.data, cases[i].runs) == 0, "%s: %s, not %s", text, breaks.data,
                      cases[i].runs);
        base_buffer_free(&breaks);
    }
    zhen_document_options o;
    zhen_document_options_init(&o, ZHEN_FORMAT_TEXT);
    expect_gloss(&o, "我→键爱。", "pd → wm jg.");
}
END_TEST

START_TEST(signs_touch_letters_and_numbers)
{
    static const protected_case cases[] = {
        {"C♯是语言，A♭大调，F♯m7", "C♯|A♭|F♯m7|"},
        {"5★酒店，4.5★☆，★A级", "5★|4.5★☆|★|"},
        {"在 △ABC 中，△3.5%，△ 注意", "△ABC|△3.5%|△|"},
        {"H2+O2→H2O是反应。A→B→C正确，1→2，A→甲", "H2+O2→H2O|A→B→C|1→2|→|"},
        {"C#，A+B，1.2.3，❶苹果", ""},
        {"λ=500nm的光，50Ω电阻，Δx=0.5，R=4.7kΩ，2πr²", "λ=500nm|50Ω|Δx=0.5|R=4.7kΩ|2πr²|"},
        {"α粒子，β-胡萝卜素，x=5，λ=，=π", "α|β|λ|π|"},
    };
    EXPECT_PROTECTED(DOC_PROTECT_SYMBOLS, cases);
}
END_TEST

/* On both sides of a symbol or on neither. */
START_TEST(blanks_around_symbols)
{
    zhen_document_options o;
    zhen_document_options_init(&o, ZHEN_FORMAT_TEXT);
    expect_gloss(&o, "□我 □爱", "□ pd □ jg");
    expect_gloss(&o, "我→爱→OK", "pd → jg→OK");
    expect_gloss(&o, "OK→我→爱", "OK→pd → jg");
    expect_gloss(&o, "★我，★A爱", "★ pd, ★ A jg");
    expect_gloss(&o, "★A爱", "★A jg");
    expect_gloss(&o, "“我”→“爱”", "“ pd” → “ jg”");
    expect_gloss(&o, "我→\"爱\"", "pd → \" jg\"");
}
END_TEST

/* Under a reader that takes quadratic time this test would not end. */
START_TEST(reads_many_arrows)
{
    base_buffer text = {0};
    doc_protected found;
    for (int i = 0; i < 100000; i++)
        ck_assert(base_buffer_append_string(&text, "a→"));
    for (size_t at = 0; doc_protect_next(text.data, text.length, at, DOC_PROTECT_SYMBOLS, &found);)
        at = found.end;
    base_buffer_free(&text);
}
END_TEST

START_TEST(symbols_part_texts)
{
    zhen_document_options o;
    zhen_document_options_init(&o, ZHEN_FORMAT_TEXT);
    expect_output(&o, MOCK_REVERSED, "我爱→水课→爱", "jg pd → ka kz → jg");
    expect_output(&o, MOCK_REVERSED, "我爱　○ 水课", "jg pd　○ ka kz");
    expect_gloss(&o, "我a∝r爱", "pd a ∝r jg");
    expect_gloss(&o, "我√爱", "pd √ jg");
}
END_TEST

/* Whatever the alignment says: before the last marks, as in the source. */
START_TEST(points_at_the_end_stay_there)
{
    zhen_document_options o;
    zhen_document_options_init(&o, ZHEN_FORMAT_TEXT);
    expect_output(&o, MOCK_WRONG_LINKS, "水我爱😀！", "kz pd jg 😀!");
    expect_output(&o, MOCK_WRONG_LINKS, "水我爱！”😀。", "kz pd jg!” 😀.");
    expect_output(&o, MOCK_WRONG_LINKS, "水我爱&copy;。", "kz pd jg&copy;.");
    zhen_document_options_init(&o, ZHEN_FORMAT_HTML);
    expect_output(&o, MOCK_WRONG_LINKS, "<p>水<b>我爱😀</b>。", "<p>kz <b>pd 😀</b> jg.");
}
END_TEST

/* A blank behind a point at the beginning of an element stays. */
START_TEST(points_keep_their_blanks)
{
    zhen_document_options o;
    zhen_document_options_init(&o, ZHEN_FORMAT_MARKDOWN);
    expect_gloss(&o, "我**✨ 爱**水", "pd **✨ jg** kz");
    expect_gloss(&o, "我👍😀爱 👍水", "pd 👍😀 jg 👍 kz");
}
END_TEST

/* The pieces of frames, with a | after each. */
START_TEST(frames_are_found)
{
    static const protected_case cases[] = {
        {"有{n, plural, =0 {无} one {# 个} other{#{x}}}。",
         "{n, plural, =0 {|} one {|#|} other{|#|}}|"},
        {"{n,selectordinal,offset:1 two{#次}}#", "{n,selectordinal,offset:1 two{|#|}}|"},
        {"{性别, select, 男 {他#} other {{n, plural, other {#}}}}",
         "{性别, select, 男 {|} other {|{n, plural, other {|#|}}|}}|"},
        {"{{c1::北京}}是{{c2::首都::什么}}", "{{c1::|}}|{{c2::|::|}}|"},
        {"{n, plural, =0 {无}", ""},
        {"{n, plural}，{n, plural, }，{n, number, x {无}}，{plural, =0 {无}}", ""},
        {"{n, plural, =0 无}，{n, plural, a {x} b}，{{c::x}}，{{c1::}}，}}{{", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        doc_frames frames = {0};
        base_buffer pieces = {0};
        ck_assert(base_buffer_reserve(&pieces, 0));
        ck_assert(doc_frames_find(cases[i].text, strlen(cases[i].text), &frames));
        for (size_t k = 0; k < frames.count; k++) {
            zhen_span place = frames.items[k].place;
            ck_assert(k == 0 || place.begin >= frames.items[k - 1].place.end);
            base_buffer_append(&pieces, cases[i].text + place.begin, place.end - place.begin);
            base_buffer_append_byte(&pieces, '|');
        }
        ck_assert_str_eq(pieces.data, cases[i].runs);
        base_buffer_free(&pieces);
        free(frames.items);
    }
}
END_TEST

/* Branches are texts; the frame stays, over the ends of lines and around other marks. */
START_TEST(frames_stay)
{
    static const struct {
        zhen_format format;
        const char *text, *expected;
    } cases[] = {
        {ZHEN_FORMAT_JSON, "[\"我{n, plural,\\n =0 {爱} other {水#课}}，爱\"]",
         "[\"pd {n, plural,\\n =0 {jg} other {kz # ka}}, jg\"]"},
        {ZHEN_FORMAT_JSON, "[\"{n, select, a {我} other {\\\"爱\\\"}}水\"]",
         "[\"{n, select, a {pd} other {\\\" jg\\\"}} kz\"]"},
        {ZHEN_FORMAT_PO, "msgid \"我{n, plural, =0 {爱} \"\n\"other {水}}\"\nmsgstr \"\"\n",
         "#, fuzzy\nmsgid \"我{n, plural, =0 {爱} \"\n\"other {水}}\"\n"
         "msgstr \"pd {n, plural, =0 {jg} other {kz}}\"\n"},
        {ZHEN_FORMAT_XLIFF,
         "<xliff trgLang='en'><trans-unit><source>{n, plural, =1 {我<x id='1'/>爱}}</source>"
         "<target/></trans-unit></xliff>",
         "<xliff trgLang='en'><trans-unit><source>{n, plural, =1 {我<x id='1'/>爱}}</source>"
         "<target>{n, plural, =1 {pd <x id='1'/> jg}}</target>"
         "</trans-unit></xliff>"},
        {ZHEN_FORMAT_TSV, "我{{c1::爱}}水", "pd {{c1::jg}} kz"},
        {ZHEN_FORMAT_TSV, "我{{c1::爱::课}}水", "pd {{c1::jg::ka}} kz"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zhen_document_options o;
        zhen_document_options_init(&o, cases[i].format);
        o.name = "file";
        expect_output(&o, MOCK_IDENTITY, cases[i].text, cases[i].text);
        expect_gloss(&o, cases[i].text, cases[i].expected);
    }
}
END_TEST

/* Gives the translation to the only text of an HTML document. */
static void expect_translated(const char *html, const char *text, const char *translated,
                              const char *expected)
{
    zhen_document_options o;
    zhen_reader *reader;
    zhen_document *document;
    zhen_text output;
    zhen_document_options_init(&o, ZHEN_FORMAT_HTML);
    ck_assert_int_eq(zhen_reader_create(&o, &reader, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_feed(reader, html, strlen(html), NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_finish(reader, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_next(reader, false, &document, NULL), ZHEN_OK);
    ck_assert_str_eq(zhen_document_text(document, 0).bytes, text);
    zhen_translation translation = {.text = translated, .length = strlen(translated)};
    ck_assert_int_eq(zhen_document_set(document, 0, &translation, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_document_render(document, &output, NULL), ZHEN_OK);
    ck_assert_str_eq(output.bytes, expected);
    zhen_document_free(document);
    zhen_reader_free(reader);
}

/* Words that the translation has at the wrong side of an element go back into their own. */
START_TEST(misplaced_words_return)
{
    expect_translated("<p>我%s<b>爱%d水%x</b>课", "我27爱38水46课", "38 I 27 love 46 it",
                      "<p>%s I <b>%d love %x</b> it");
    expect_translated("<p>我%s<b>%d水</b><i>课<u>%x爱%f</u></i>", "我27 38水课46爱59",
                      "46 a 38 59 27", "<p><b>%d</b> <i><u>%x %f</u></i> %s a");
}
END_TEST

int main(void)
{
    static const TTest *const *const tests[] = {&long_numbers,
                                                &quantities_and_dates_are_translated,
                                                &long_numbers_survive,
                                                &addresses_hold_chinese,
                                                &domain_names,
                                                &placeholders,
                                                &tags_and_comparisons,
                                                &tags_enclose_words,
                                                &symbols,
                                                &arrows_part_labels,
                                                &signs_touch_letters_and_numbers,
                                                &blanks_around_symbols,
                                                &reads_many_arrows,
                                                &symbols_part_texts,
                                                &points_at_the_end_stay_there,
                                                &points_keep_their_blanks,
                                                &frames_are_found,
                                                &frames_stay,
                                                &misplaced_words_return};
    TCase *group = tcase_create("protect");
    tcase_set_timeout(group, 0);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(group, *tests[i]);
    return run_group("document/protect", group);
}
