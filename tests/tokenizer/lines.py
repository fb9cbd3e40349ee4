"""Text that tokenisers get wrong; shared by make_fixtures.py and parity.py. No line feeds."""

SPACES = [
    "", " ", "   ", "\t", "\r", "\u3000", "\u00a0\u2003", " 你好", "你好 ", "  a  b   c  ", "a\tb\r",
    "全角\u3000空格", "零宽\u200b空格\u200c连\u200d接", "\ufeffBOM 开头", "a\u00a0b", "a\u2028b\u2029c",
    "▁", "▁▁", "▁a▁b▁", " ▁ ", "a ▁", "a▁▁b", "    缩进", "尾随空格   ", "\u1680\u205f",
]

HAN = [
    "我爱水课。", "他們發現了新的證據。", "臺灣的「國語」與大陸的“普通话”", "𠮷野家と𡃁仔", "𪚥𪚥𪚥龘龘",
    "𰻝𰻝面", "㐀㐁㐂", "豈更車賈", "⼀⼆⼈", "〇一二三四五六七八九十", "甲、乙、丙……丁——戊",
    "他说：“你好！”然后走了。", "《红楼梦》是曹雪芹（约1715年—约1763年）写的。", "卧槽！！！真的吗？？？",
    "哈" * 120, "的的的的的的的的", "GDP增长了6.5%，达到90.03万亿元。", "用Python写的CNN模型在GPU上跑了3小时",
    "第１２３届ＡＢＣ大会", "微信：ｗｘ＿ｉｄ　ＱＱ：１２３４５６", "ﾊﾝｶｸ ｶﾀｶﾅ", "ひらがなとカタカナ", "한국어 문장",
    "瞭解瞭望塔的葡萄乾與乾隆皇帝", "國發〔2023〕1號⋯⋯100〜200元", "『反覆』答覆計畫", "憑藉項鍊鍛鍊，乾淨乾",
]

LATIN = [
    "Hello, world!", "The quick brown fox jumps over the lazy dog.", "don't can't it's “quoted”",
    "naïve café Zürich Ångström", "nai\u0308ve cafe\u0301 A\u030angstro\u0308m", "ﬁnd the ﬂow, oﬀer",
    "ǅ ĳ Œ ß ẞ ı İ ſ", "Ελληνικά и русский язык", "עברית العربية ﷺ", "ไทย हिन्दी བོད",
    "http://example.com/a?b=c&d=e#f", "user@example.com @name #tag", "C:\\dir\\file.txt ~/x.tar.gz",
    "x^2 + y² = z₃", "½ ⅓ ¾ 1⁄2", "① ② Ⅷ ㊗ ㍿ ㎏ ™ ℡ №", "1,234,567.89 $100 €50 £3 ¥800", "a" * 200,
    "AbCdEfGhIjKlMnOpQrStUvWxYz", "aaa bbb aaa bbb aaa", "abcabcabcab", "ⅰⅱⅲⅳ", "ⅴ" * 60, "ⅰⅱⅲⅳⅱⅲⅳ", "<unk>", "</s> <s> <pad>",
    "<0x41><0xE4>", "a<unk>b</s>c", "<sep>x<sep>", "你好<sep>世界", "foo bar foobar foo  bar", "ab abc abcd xabcx",
]

SYMBOLS = [
    "😀", "😀😃😄 表情", "👨‍👩‍👧‍👦 family", "👍🏽👩🏿‍🚀", "🇨🇳🇺🇸🇫🇷", "1️⃣2️⃣#️⃣", "❤️ ❤ ☀︎ ☀️", "(╯°□°）╯︵ ┻━┻", "→←↑↓⇒∀∃∈",
    "\x01\x02 control \x7f \x1b[0m", "nul\x00inside", "\x00", "\x85\x9f", "\u0600\u070f", "a\u0301\u0302\u0303\u0304",
    "\ufffd", "\ufffe\uffff", "\U0010ffff\U000f0000", "\ue000\uf8ff", "\U000e0041\U000e007f", "\U0001d400\U0001d54f",
    "\u202eRTL\u202c", "\u115f\u1160가\u11a8", "…‥.", "“”‘’「」『』〈〉【】", "!?！？；;：:，,。.",
]

LANGUAGES = [">>fra<< Hello", ">>eng<<", ">>eng<< 你好", ">>xyz<< unknown code", ">>eng", " >>eng<< late", "a >>eng<< b"]

ALL = SPACES + HAN + LATIN + SYMBOLS + LANGUAGES
