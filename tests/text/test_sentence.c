#include "support/suite.h"
#include "text/sentence.h"

#include "text/random_text.h"
#include "text/script.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Each case is a text with | where it must be cut, and nowhere else. */
static const char *const cases[] = {
    /* stops */
    "我爱水课。",
    "我爱水课。|我不爱早课！|为什么？|因为困；|很困。",
    "没有句号",
    "真的吗？！|真的！！！|好｡|行",
    "太好了‼|真的⁇|好",
    "！！！你好。",
    "……然后他走了。",
    "。",
    "......",
    "",
    "   ",
    "好。   　|　 再见。 ",
    "他走了！，我没走。",
    /* lines, tabs, control characters */
    "第一行|\n|第二行|\r\n|第三行",
    "第一列|\t|第二列",
    "一\u2028|二",
    "“第一段|\n|第二段。”|他说。",
    /* quotations */
    "他说：“今天天气很好。|我们去公园吧。”|然后走了。",
    "“你好！”小明笑着说。|“再见。”|她走了。",
    "「你好。」他說。|「我走了。」|他沒走。",
    "『好。』她喊道：「走！」|他不走。",
    "“怎么办？”是一个问题。",
    "他大喊：“救命！”的时候，“谁？”|他问。",
    "他的“怎么办？”让我无言以对。|好。",
    "\"你好。\"他说。|\"再见!\"她说:\"走吧。\"|我没理他。",
    "他看了\"怎么办?\"这本书。|好。",
    "5\"屏幕和6\"屏幕。|好",
    "“他说：‘你好。’”|我走了。",
    "“未完的话。|下一句。",
    /* brackets and titles */
    "《你好，李焕英！》是电影。|《怎么办？》也是。",
    "本条例（以下简称“条例”；不含附件。）自公布之日起施行。",
    "（他走了。）|她来了。|（完。）",
    "他走了（真的！）然后回来。",
    "他走了。|（没有关上的括号。|好。",
    "【注意！】请排队。",
    "他来了。）|好",
    /* ellipses */
    "我……我不知道。|这……怎么可能？",
    "你家……有酱油吗？",
    "“我妈……她不肯。”",
    "他走了很远很远很远……|后来又回来了。",
    "苹果、香蕉、橘子、西红柿……都是水果。",
    "他等啊等啊等啊...|终于来了。",
    "我等了三天两夜……。|他没来。",
    "我真的不知道……，算了。",
    "e = 2.71828... 是常数。",
    "(a, b, ...) 和 x && ... 而不是 y。",
    "请看 ../path/to 和 ./a.sh 文件。",
    /* Latin marks */
    "我爱你. |我也爱你.|好! |Hello. |World.",
    "真的?|2024年了!|OK吧?|嗯",
    "他走了;|她没走; |好",
    "he said \"Really?\" to me. |我爱你.",
    "Is it OK? yes. |好",
    /* numbers, labels, abbreviations */
    "圆周率是3.14。|版本v1.2.3发布了。|ＩＰ是192.168.0.1。|３．１４也是。",
    "时间是10:30。|下午3 p.m. 开会。",
    "1.| 第一项。|2.第二项。|３．第三项。|IV.| 第四。|A.| 选项",
    "他生于1998.|后来死了",
    "他在U.S.工作。|Dr. Wang 来了。|J. Smith 和 Mr. Li，e.g. 这个。",
    "见 No. 5 和 Fig. 3。|No. |我不去。",
    "苹果公司 Apple Inc. 很大。",
    "Ｊ．史密斯来了。|他在2008. |后来",
    "1。苹果|\n|多少？|10。|太贵了。|2023。|完",
    "'你好。'他说。|'再见'，她说。",
    /* bullets and other signs, list labels */
    "•| 苹果|\n|·| 苹果|\n|●|苹果。|■|香蕉|\n|※| 注意|\n|\uF06C| 好",
    "- |你好|\n|-5度|\n|——你好|\n|>> >| *强调*",
    "●。|\n|★：推荐|\n|○|\n|●●●●|\n|- -",
    "├── |目录|\n|│   └── |文件.txt 好",
    "→ |打开。|❤️ |走吧！|👍🏻|好",
    "℃是单位|\n|①|第一|\n|≥ |5个|\n|⋯⋯好",
    "○ |是　|● |否|\n|文件 |▸ |打印，根据 § 3 和 A → B 办",
    "你好 |😀|\n|你好|☀️|\n|转90°|\n|公元二○○○|\n|评分 |★★★|\n|C♯",
    "a.| 打开|\n|b)| 打开|\n|12.| 打开|\n|2008. 他来了。|J. Smith 来了",
    "a.|打开|\n|a. |\n|A. B. Smith|\n|b)|打开|\n|A.打开|\n|a.m. 三点",
    /* items of a list on one line */
    "1.打开电源|2.关闭电源，|3.等。",
    "步骤：|1.打开|2.关闭。|答案：|A.苹果|B.香蕉",
    "Ａ．苹果　|Ｂ．香蕉　|Ｃ．橘子",
    "A. |苹果 |B. |香蕉|\n|C. |橘子",
    "1.苹果3.|香蕉。|比例为1:1.|后来|2.来",
    "1.他生于1998.|后来死了，第2.5节",
    "①|苹果|②|香蕉|③|橘子|\n|⑴| 打开 |⑵| 关闭|\n|❶|首先，|❷|其次。",
    "步骤如下：|①|打开，|②|OK|③|关闭。|首先，|①|打开、|②|3个",
    "规则：|a.|不许说话 |b.|不许走动",
    /* numbers that are spoken of */
    "①和②相等，①、②相加，①②都对，①的值|\n|见图①，将①代入②得③|\n|①",
    /* fields side by side */
    "时间：三点　|地点：北京　|QQ：123|　　|主持人：李四",
    "姓　名：张三 |性别：男 |年龄：20 |网址：http://a.com/b",
    "注意：使用 Python 时：先装，返回了具有无效 id 的条目：1",
    "地点 北京  时间 三点，他说：我们  见http://a.com",
    /* addresses, names, code */
    "访问https://a.com/x?q=1&y=2。|谢谢！",
    "见http://a.com/a?页面和www.b.com.页面",
    "发邮件到a.b@c.com。|好。",
    "请看 readme.txt 和 报告.docx 文件。|用 Node.js 写。|.NET 也行",
    "用 Yahoo!奇摩 搜索。|好",
    "&nbsp;好&#8230;的;|好",
    "表达式 .*? 匹配，条件 a ? b : c 也行。",
    "在page.html?#top这里",
    /* what is attached */
    "太好了！|😀|明天见。|👨‍👩‍👧|好",
    "“太好了！😀”他说。",
    "成立于1949年。[12]|后来。|[注]好",
    "Hello.' |好",
};

static size_t expected_spans(const char *pattern, base_buffer *text, zhen_span *spans)
{
    size_t count = 0, begin = 0;
    base_buffer_clear(text);
    ck_assert(base_buffer_reserve(text, 0));
    for (const char *c = pattern;; c++) {
        if (*c && *c != '|') {
            ck_assert(base_buffer_append_byte(text, *c));
            continue;
        }
        size_t end = text->length;
        int32_t character;
        while (begin < end) {
            size_t size = text_decode(text->data + begin, end - begin, &character);
            if (!text_is_blank(character))
                break;
            begin += size;
        }
        while (end > begin) {
            size_t size = text_decode_before(text->data, begin, end, &character);
            if (!text_is_blank(character))
                break;
            end -= size;
        }
        if (begin < end)
            spans[count++] = (zhen_span){begin, end};
        begin = text->length;
        if (!*c)
            return count;
    }
}

START_TEST(cuts_where_sentences_end)
{
    base_buffer text = {0}, found = {0};
    zhen_span expected[32];
    text_sentences sentences = {0};
    size_t count = expected_spans(cases[_i], &text, expected);
    ck_assert(text_split_sentences(text.data, text.length, &sentences));
    for (size_t i = 0; i < sentences.count; i++) {
        zhen_span span = sentences.spans[i];
        ck_assert(base_buffer_append_string(&found, i ? " | " : ""));
        ck_assert(base_buffer_append(&found, text.data + span.begin, span.end - span.begin));
    }
    ck_assert_msg(sentences.count == count, "%s\ngave %s", cases[_i], found.data ? found.data : "");
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(sentences.spans[i].begin == expected[i].begin &&
                          sentences.spans[i].end == expected[i].end,
                      "%s\ngave %s", cases[_i], found.data);
    text_sentences_free(&sentences);
    base_buffer_free(&text);
    base_buffer_free(&found);
}
END_TEST

static void check_blank(const char *text, size_t begin, size_t end)
{
    while (begin < end) {
        int32_t character;
        begin += text_decode(text + begin, end - begin, &character);
        ck_assert_msg(text_is_blank(character), "U+%04X lost from %s", (unsigned)character, text);
    }
}

static void check_edges(const char *text, zhen_span span)
{
    int32_t first, last;
    text_decode(text + span.begin, span.end - span.begin, &first);
    text_decode_before(text, span.begin, span.end, &last);
    ck_assert(!text_is_blank(first) && !text_is_blank(last));
    for (size_t at = span.begin; at < span.end;) {
        int32_t character;
        at += text_decode(text + at, span.end - at, &character);
        ck_assert(!text_is_separator(character));
    }
}

START_TEST(loses_nothing_but_blanks)
{
    uint64_t state = 20250101;
    base_buffer text = {0};
    text_sentences sentences = {0};
    for (int round = 0; round < 5000; round++) {
        random_text(&state, 24, &text);
        ck_assert(text_split_sentences(text.data, text.length, &sentences));
        size_t end = 0;
        for (size_t i = 0; i < sentences.count; i++) {
            zhen_span span = sentences.spans[i];
            ck_assert(span.begin >= end && span.begin < span.end && span.end <= text.length);
            check_blank(text.data, end, span.begin);
            check_edges(text.data, span);
            end = span.end;
        }
        check_blank(text.data, end, text.length);
    }
    text_sentences_free(&sentences);
    base_buffer_free(&text);
}
END_TEST

/* Unclosed brackets and quotation marks must not make the time grow with the square of the length:
 * under a quadratic reader this test would not end. */
START_TEST(reads_many_brackets)
{
    base_buffer text = {0};
    text_sentences sentences = {0};
    for (int i = 0; i < 20000; i++)
        ck_assert(base_buffer_append_string(&text, i % 3 ? "（" : "我“"));
    ck_assert(text_split_sentences(text.data, text.length, &sentences));
    ck_assert_uint_eq(sentences.count, 1);
    ck_assert_uint_eq(sentences.spans[0].end, text.length);
    text_sentences_free(&sentences);
    base_buffer_free(&text);
}
END_TEST

/* Nor must signs, wherever they stand. */
START_TEST(reads_many_signs)
{
    static const char *const units[] = {"●", "—", "- ", "我- ", "😀我", "●。", "!😀", "：　", "1."};
    base_buffer text = {0};
    text_sentences sentences = {0};
    for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++) {
        base_buffer_clear(&text);
        for (int i = 0; i < 50000; i++)
            ck_assert(base_buffer_append_string(&text, units[unit]));
        ck_assert(text_split_sentences(text.data, text.length, &sentences));
        ck_assert_uint_ge(sentences.count, 1);
    }
    text_sentences_free(&sentences);
    base_buffer_free(&text);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("sentence");
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, cuts_where_sentences_end, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, loses_nothing_but_blanks);
    tcase_add_test(tests, reads_many_brackets);
    tcase_add_test(tests, reads_many_signs);
    return run_group("text_sentence", tests);
}
