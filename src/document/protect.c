#include "document/protect.h"

#include "text/script.h"
#include "text/utf8.h"

#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

/* Every matcher looks at text[at..length) and returns how many bytes it protects, 0 for none. */
typedef size_t (*matcher)(const char *text, size_t length, size_t at);

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_alpha(c) || is_digit(c);
}

/* Whether c is an ASCII character of `set` (which a zero byte never is). */
static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static char at_or_zero(const char *text, size_t length, size_t at)
{
    if (at >= length)
        return '\0';
    return text[at];
}

/* Whether a Latin word or number goes on to the left of `at`. */
static bool is_inside_word(const char *text, size_t at)
{
    return at > 0 && (is_alnum(text[at - 1]) || text[at - 1] == '_');
}

/* ---- Addresses ---------------------------------------------------------------------------- */

static bool starts_with(const char *text, size_t length, size_t at, const char *prefix)
{
    size_t size = strlen(prefix);
    return length - at >= size && memcmp(text + at, prefix, size) == 0;
}

/* Characters of RFC 3986, all ASCII: an address ends where Chinese begins. */
static bool is_address_byte(char c)
{
    return is_alnum(c) || is_one_of(c, "-._~:/?#[]@!$&'()*+,;=%");
}

/* Marks at the end that belong to the sentence rather than to the address; a closing parenthesis
 * does unless its opening one is inside. */
static size_t trim_address(const char *text, size_t begin, size_t end)
{
    while (end > begin) {
        char last = text[end - 1];
        if (last == ')') {
            int open = 0;
            for (size_t i = begin; i < end; i++)
                open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
            if (open >= 0)
                return end;
        } else if (!is_one_of(last, ".,;:!?'*]")) {
            return end;
        }
        end--;
    }
    return end;
}

static size_t match_url(const char *text, size_t length, size_t at)
{
    static const char *const prefixes[] = {
        "http://", "https://", "ftp://", "mailto:", "file://", "ssh://", "git://", "www."};
    if (is_inside_word(text, at))
        return 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!starts_with(text, length, at, prefixes[i]))
            continue;
        size_t end = at + strlen(prefixes[i]), body = end;
        while (end < length && is_address_byte(text[end]))
            end++;
        end = trim_address(text, body, end);
        return end > body ? end - at : 0;
    }
    return 0;
}

/* Labels joined by dots, the last one of letters only; at least two labels. */
static size_t match_domain(const char *text, size_t length, size_t at)
{
    size_t end = at, dots = 0, label = 0, good = 0;
    bool letters = true;
    for (; end < length; end++) {
        char c = text[end];
        if (is_alnum(c) || c == '-') {
            letters = letters && is_alpha(c);
            label++;
            if (dots && letters && label >= 2)
                good = end + 1;
        } else if (c == '.' && label) {
            dots++;
            label = 0;
            letters = true;
        } else {
            break;
        }
    }
    return good ? good - at : 0;
}

static size_t match_email(const char *text, size_t length, size_t at)
{
    if (is_inside_word(text, at) || !is_alnum(at_or_zero(text, length, at)))
        return 0;
    size_t end = at;
    while (end < length && (is_alnum(text[end]) || is_one_of(text[end], "._%+-")))
        end++;
    if (end >= length || text[end] != '@')
        return 0;
    size_t domain = match_domain(text, length, end + 1);
    return domain ? end + 1 + domain - at : 0;
}

/* Endings of names that are files, not the end of a sentence or a number. */
static bool is_file_ending(const char *text, size_t length)
{
    static const char *const endings[] = {
        "txt",  "md",  "json", "xml",   "html", "htm",  "css",    "js",   "ts",   "py",   "c",
        "h",    "cc",  "cpp",  "hpp",   "java", "go",   "rs",     "sh",   "bat",  "exe",  "dll",
        "so",   "a",   "o",    "zip",   "gz",   "xz",   "bz2",    "tar",  "7z",   "rar",  "deb",
        "rpm",  "iso", "img",  "jpg",   "jpeg", "png",  "gif",    "svg",  "webp", "bmp",  "mp3",
        "mp4",  "avi", "mkv",  "wav",   "ogg",  "pdf",  "doc",    "docx", "xls",  "xlsx", "ppt",
        "pptx", "odt", "csv",  "tsv",   "yml",  "yaml", "toml",   "ini",  "conf", "cfg",  "log",
        "sql",  "db",  "php",  "rb",    "pl",   "lua",  "po",     "mo",   "srt",  "vtt",  "tex",
        "ttf",  "jar", "apk",  "cmake", "lock", "d",    "service"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strlen(endings[i]) == length && memcmp(endings[i], text, length) == 0)
            return true;
    return false;
}

/* A path or a file name: config.json, ~/.bashrc, /etc/fstab, C:\dir\a.txt, ./run, src/main.c. */
static size_t match_file(const char *text, size_t length, size_t at)
{
    if (is_inside_word(text, at) || (at > 0 && is_one_of(text[at - 1], "/\\.<-")))
        return 0;
    size_t end = at, dot = 0, slashes = 0, letters = 0;
    if (is_alpha(at_or_zero(text, length, at)) && starts_with(text, length, at + 1, ":\\"))
        end += 2;
    for (; end < length; end++) {
        char c = text[end];
        if (c == '.')
            dot = end;
        else if (c == '/' || c == '\\')
            slashes++;
        else if (is_alpha(c))
            letters++;
        else if (!is_digit(c) && !is_one_of(c, "_-+~"))
            break;
    }
    while (end > at && text[end - 1] == '.')
        end--;
    if (!letters || end - at < 3)
        return 0;
    bool rooted = is_one_of(text[at], "/~") || starts_with(text, length, at, "./") ||
                  starts_with(text, length, at, "../") || text[at + 1] == ':';
    if (slashes && rooted)
        return end - at;
    if (dot > at && dot + 1 < end && is_file_ending(text + dot + 1, end - dot - 1))
        return end - at;
    return 0;
}

/* A command-line option: --output-dir, --width=80. */
static size_t match_option(const char *text, size_t length, size_t at)
{
    if (is_inside_word(text, at) || (at > 0 && text[at - 1] == '-') ||
        !starts_with(text, length, at, "--") || !is_alpha(at_or_zero(text, length, at + 2)))
        return 0;
    size_t end = at + 2;
    while (end < length && (is_alnum(text[end]) || is_one_of(text[end], "-_=")))
        end++;
    return end - at;
}

/* Characters that names on the net are made of, in any script. */
static size_t match_name(const char *text, size_t length, size_t at)
{
    size_t end = at;
    while (end < length) {
        int32_t character;
        size_t bytes = text_decode(text + end, length - end, &character);
        utf8proc_category_t category = utf8proc_category(character);
        bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
        if (!letter && character != '_' && character != '-')
            break;
        end += bytes;
    }
    return end - at;
}

/* @name: a Chinese name has no end but a blank, a mark or, where there is none, a limit. */
static size_t match_mention(const char *text, size_t length, size_t at)
{
    if (text[at] != '@' || is_inside_word(text, at))
        return 0;
    size_t latin = at + 1;
    while (latin < length && (is_alnum(text[latin]) || is_one_of(text[latin], "_-/.")))
        latin++;
    while (latin > at + 1 && is_one_of(text[latin - 1], "-/."))
        latin--;
    if (latin > at + 1)
        return latin - at;
    size_t name = match_name(text, length, at + 1);
    return name && name <= 24 ? name + 1 : 0;
}

/* #topic#, as Weibo writes it, or #topic before a blank or the end. */
static size_t match_hashtag(const char *text, size_t length, size_t at)
{
    if (text[at] != '#' || is_inside_word(text, at) || (at > 0 && text[at - 1] == '&'))
        return 0;
    size_t name = match_name(text, length, at + 1), end = at + 1 + name;
    if (!name || name > 90)
        return 0;
    if (at_or_zero(text, length, end) == '#')
        return end + 1 - at;
    if (end == length || text_is_blank((unsigned char)text[end]))
        return end - at;
    return 0;
}

/* ---- Placeholders ------------------------------------------------------------------------- */

/* printf's conversions, with positions and Python's names: %s, %5.2f, %1$d, %(name)s, %lu. Not
 * "100% of": a conversion follows the sign directly, and a number before it is a percentage. */
static size_t match_percent(const char *text, size_t length, size_t at)
{
    if (text[at] != '%')
        return 0;
    size_t end = at + 1;
    if (at_or_zero(text, length, end) == '%')
        return 2;
    if (at_or_zero(text, length, end) == '(') {
        while (end < length && end - at < 64 && text[end] != ')')
            end++;
        end++;
    }
    while (end < length && (is_digit(text[end]) || is_one_of(text[end], "$#+-.*'0")))
        end++;
    while (end < length && is_one_of(text[end], "hlLqjzt"))
        end++;
    if (end >= length || !is_one_of(text[end], "diouxXeEfFgGaAcspn@"))
        return 0;
    end++;
    if (end < length && is_alpha(text[end]))
        return 0;
    if (at > 0 && is_digit(text[at - 1]))
        return 0;
    return end - at;
}

/* {name}, {0:>8}, {{ x }}, ${x}, #{x}, %{x}, <%= x %> are not told apart by language: braces whose
 * content is short and has no Chinese. */
static size_t match_braces(const char *text, size_t length, size_t at)
{
    size_t end = at;
    if (is_one_of(text[end], "$#%") && at_or_zero(text, length, end + 1) == '{')
        end++;
    if (text[end] != '{')
        return 0;
    size_t depth = 0;
    for (; end < length && end - at < 80; end++) {
        char c = text[end];
        if ((unsigned char)c < 0x20 || (unsigned char)c >= 0x7F)
            return 0;
        if (c == '{')
            depth++;
        else if (c == '}' && --depth == 0)
            return end + 1 - at;
    }
    return 0;
}

/* $name and $NAME; not $5. */
static size_t match_variable(const char *text, size_t length, size_t at)
{
    if (text[at] != '$' || is_inside_word(text, at))
        return 0;
    size_t end = at + 1;
    if (end >= length || (!is_alpha(text[end]) && text[end] != '_'))
        return 0;
    while (end < length && (is_alnum(text[end]) || text[end] == '_'))
        end++;
    return end - at;
}

/* A character reference: &nbsp; &#160; &#xA0;. */
static size_t match_entity(const char *text, size_t length, size_t at)
{
    if (text[at] != '&')
        return 0;
    size_t end = at + 1;
    if (at_or_zero(text, length, end) == '#')
        end++;
    size_t begin = end;
    while (end < length && end - begin < 32 && is_alnum(text[end]))
        end++;
    return end > begin && at_or_zero(text, length, end) == ';' ? end + 1 - at : 0;
}

/* A tag in text that is not parsed as markup (PO, JSON, tables): <b>, </a>, <br/>. */
static size_t match_tag(const char *text, size_t length, size_t at)
{
    if (text[at] != '<')
        return 0;
    size_t end = at + 1;
    if (at_or_zero(text, length, end) == '/')
        end++;
    if (!is_alpha(at_or_zero(text, length, end)))
        return 0;
    while (end < length && text[end] != '>' && text[end] != '<')
        end++;
    return at_or_zero(text, length, end) == '>' ? end + 1 - at : 0;
}

/* \n and \t as two characters, in text that has been quoted twice. */
static size_t match_backslash(const char *text, size_t length, size_t at)
{
    return text[at] == '\\' && is_one_of(at_or_zero(text, length, at + 1), "nrt") &&
                   !is_alnum(at_or_zero(text, length, at + 2))
               ? 2
               : 0;
}

/* ---- Code and notes ----------------------------------------------------------------------- */

/* `code`: as many backticks at the end as at the start, on one line. */
static size_t match_code(const char *text, size_t length, size_t at)
{
    if (text[at] != '`' || (at > 0 && text[at - 1] == '`'))
        return 0;
    size_t ticks = 0;
    while (at_or_zero(text, length, at + ticks) == '`')
        ticks++;
    for (size_t i = at + ticks; i < length && text[i] != '\n';) {
        size_t run = 0;
        while (at_or_zero(text, length, i + run) == '`')
            run++;
        if (run == ticks)
            return i + run - at;
        i += run ? run : 1;
    }
    return 0;
}

static size_t match_note(const char *text, size_t length, size_t at)
{
    if (!starts_with(text, length, at, "[^"))
        return 0;
    size_t end = at + 2;
    while (end < length && text[end] != ']' && text[end] != '[' && text[end] != '\n')
        end++;
    if (at_or_zero(text, length, end) != ']' || end == at + 2)
        return 0;
    end++;
    return at_or_zero(text, length, end) == ':' ? end + 1 - at : end - at;
}

/* $a^2 + b^2$ and $$...$$: no Chinese inside, no blank at the inner edges, no digit after ("$5 and
 * $6" is money). */
static size_t match_formula(const char *text, size_t length, size_t at)
{
    if (text[at] != '$' || is_inside_word(text, at))
        return 0;
    size_t signs = at_or_zero(text, length, at + 1) == '$' ? 2 : 1, begin = at + signs;
    if (begin >= length || text[begin] == ' ')
        return 0;
    for (size_t i = begin; i < length; i++) {
        if ((unsigned char)text[i] >= 0x80)
            return 0;
        if (text[i] != '$' || i == begin)
            continue;
        if (text[i - 1] == ' ' || (signs == 2 && at_or_zero(text, length, i + 1) != '$') ||
            is_digit(at_or_zero(text, length, i + signs)))
            return 0;
        return i + signs - at;
    }
    return 0;
}

/* ---- Symbols ------------------------------------------------------------------------------ */

/* Emoji blocks of the Unicode standard that hold no text. */
static bool is_emoji(int32_t c)
{
    return (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) ||
           (c >= 0x2B00 && c <= 0x2BFF) || c == 0x231A || c == 0x231B || c == 0x2328 ||
           c == 0x23CF || (c >= 0x23E9 && c <= 0x23F3);
}

/* What may follow inside one emoji: joiners, variation selectors, skin tones, tags, keycaps. */
static bool continues_emoji(int32_t c)
{
    return c == 0x200D || c == 0xFE0F || c == 0xFE0E || c == 0x20E3 ||
           (c >= 0xE0020 && c <= 0xE007F) || is_emoji(c);
}

static size_t match_emoji(const char *text, size_t length, size_t at)
{
    int32_t character;
    size_t end = at + text_decode(text + at, length - at, &character);
    if (!is_emoji(character))
        return 0;
    while (end < length) {
        size_t bytes = text_decode(text + end, length - end, &character);
        if (!continues_emoji(character))
            break;
        end += bytes;
    }
    return end - at;
}

/* A face between brackets, (^_^) （＾▽＾） ╮(╯▽╰)╭: short, without Han, letters few, symbols two at
 * least; arms and cheeks outside the brackets belong to it. */
static bool is_face_symbol(int32_t c)
{
    static const char ascii[] = "^_;*-'`~=<>@";
    if (c < 0x80)
        return c > 0 && strchr(ascii, (char)c);
    utf8proc_category_t category = utf8proc_category(c);
    return (category >= UTF8PROC_CATEGORY_SM && category <= UTF8PROC_CATEGORY_SO) ||
           category == UTF8PROC_CATEGORY_LM || category == UTF8PROC_CATEGORY_MN || c == 0xFF3F ||
           c == 0x203E || c == 0x2022 || c == 0x30FB || c == 0xFF65 || c == 0x03C9 || c == 0x0414 ||
           c == 0x0434 || c == 0x76BF || c == 0x0CA0 || c == 0xFF1B || c == 0xFF0A ||
           (c >= 0x2500 && c <= 0x25FF);
}

static bool is_face_letter(int32_t c)
{
    return (c < 0x80 && c > 0 && (is_alnum((char)c) || strchr(" ./\\\"", (char)c))) ||
           (c >= 0x0370 && c <= 0x04FF) || (c >= 0x3040 && c <= 0x30FF) ||
           (c >= 0xFF00 && c <= 0xFF9F) || (c >= 0x0C80 && c <= 0x0CFF);
}

static size_t match_face(const char *text, size_t length, size_t at)
{
    size_t end = at, symbols = 0, letters = 0, characters = 0;
    int32_t c = 0;
    size_t bytes = text_decode(text + end, length - end, &c);
    for (size_t arms = 0; c != '(' && c != 0xFF08; arms++) {
        if (!is_face_symbol(c) || c < 0x80 || arms == 2)
            return 0;
        end += bytes;
        if (end >= length)
            return 0;
        bytes = text_decode(text + end, length - end, &c);
    }
    end += bytes;
    for (;; end += bytes) {
        if (end >= length || ++characters > 12)
            return 0;
        bytes = text_decode(text + end, length - end, &c);
        if (c == ')' || c == 0xFF09)
            break;
        if (is_face_symbol(c))
            symbols++;
        else if (is_face_letter(c))
            letters++;
        else
            return 0;
    }
    if (symbols < 2 || letters > 4)
        return 0;
    end += bytes;
    for (size_t arms = 0; end < length && arms < 3; arms++) {
        bytes = text_decode(text + end, length - end, &c);
        if (!is_face_symbol(c) || c < 0x80)
            break;
        end += bytes;
    }
    return end - at;
}

/* Faces of ASCII marks: :-) ;) :D XD T_T ^_^ orz >_<. */
static size_t match_smiley(const char *text, size_t length, size_t at)
{
    static const char *const faces[] = {":-)", ":)",  ";-)", ";)",  ":-(", ":(",  ":-D",
                                        ":D",  ":P",  ":-P", "XD",  "T_T", "T.T", "^_^",
                                        "^^",  "-_-", ">_<", "=_=", "o_O", "O_O", "QAQ"};
    if (is_inside_word(text, at))
        return 0;
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++) {
        size_t end = at + strlen(faces[i]);
        if (starts_with(text, length, at, faces[i]) && !is_alnum(at_or_zero(text, length, end)))
            return end - at;
    }
    return 0;
}

/* ---- All of them -------------------------------------------------------------------------- */

typedef struct pattern {
    unsigned which;
    const char *first; /* ASCII characters that it can begin with; NULL: any character */
    matcher match;
    enum { AS_WORD, AS_POINT, SET_OFF } how; /* SET_OFF: a point between blanks */
} pattern;

static const pattern patterns[] = {
    {DOC_PROTECT_CODE, "`", match_code, AS_WORD},
    {DOC_PROTECT_NOTES, "[", match_note, AS_POINT},
    {DOC_PROTECT_NOTES, "$", match_formula, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "%", match_percent, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "{$#%", match_braces, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "$", match_variable, AS_WORD},
    {DOC_PROTECT_PLACEHOLDERS, "&", match_entity, AS_POINT},
    {DOC_PROTECT_PLACEHOLDERS, "<", match_tag, AS_POINT},
    {DOC_PROTECT_PLACEHOLDERS, "\\", match_backslash, AS_POINT},
    {DOC_PROTECT_ADDRESSES, "hfmsgw", match_url, AS_WORD},
    {DOC_PROTECT_ADDRESSES, NULL, match_email, AS_WORD},
    {DOC_PROTECT_ADDRESSES, NULL, match_file, AS_WORD},
    {DOC_PROTECT_ADDRESSES, "-", match_option, AS_WORD},
    {DOC_PROTECT_ADDRESSES, "@", match_mention, AS_WORD},
    {DOC_PROTECT_ADDRESSES, "#", match_hashtag, SET_OFF},
    {DOC_PROTECT_SYMBOLS, NULL, match_emoji, AS_POINT},
    {DOC_PROTECT_SYMBOLS, NULL, match_face, SET_OFF},
    {DOC_PROTECT_SYMBOLS, ":;XT^->=oOQ", match_smiley, SET_OFF},
};

static size_t match_any(const char *text, size_t length, size_t at, unsigned which,
                        const pattern **matched)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const pattern *p = &patterns[i];
        if (!(p->which & which) || (p->first && !is_one_of(text[at], p->first)))
            continue;
        size_t bytes = p->match(text, length, at);
        if (bytes) {
            *matched = p;
            return bytes;
        }
    }
    return 0;
}

static bool is_blank_entity(const char *text, size_t length)
{
    static const char *const blanks[] = {"&nbsp;", "&ensp;", "&emsp;", "&thinsp;",
                                         "&#160;", "&#xA0;", "&#xa0;", "&#12288;"};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (strlen(blanks[i]) == length && memcmp(blanks[i], text, length) == 0)
            return true;
    return false;
}

bool doc_protect_next(const char *text, size_t length, size_t begin, unsigned which,
                      doc_protected *found)
{
    for (size_t at = begin; at < length;) {
        const pattern *matched = NULL;
        size_t bytes = match_any(text, length, at, which, &matched);
        if (bytes) {
            *found = (doc_protected){.begin = at,
                                     .end = at + bytes,
                                     .is_word = matched->how == AS_WORD,
                                     .is_wordlike = matched->how == SET_OFF,
                                     .is_blank = is_blank_entity(text + at, bytes)};
            return true;
        }
        int32_t character;
        at += text_decode(text + at, length - at, &character);
    }
    return false;
}
