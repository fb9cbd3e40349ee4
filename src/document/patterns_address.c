#include "document/patterns.h"

#include "text/script.h"
#include "text/utf8.h"

#include <stdint.h>
#include <utf8proc.h>

/* In bytes: what is longer is taken for something else (RFC 5321, 4.5.3.1 for mail). */
enum {
    LONGEST_USER = 64,
    LONGEST_DOMAIN = 255,
    LONGEST_PATH = 1024,
    LONGEST_NAME = 90,
    SHORTEST_NAME = 6
};

size_t doc_match_name(const char *text, size_t length, size_t at)
{
    size_t end = at;
    while (end < length && end - at <= LONGEST_NAME) {
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

/* A part of a path or a query in another script: a name of two characters and more behind a mark
 * that parts are divided by, with the next part, a blank or the end behind it. Else Chinese begins
 * there: "https://a.cn/wiki/中国 有" holds a name, "https://a.cn/是" and "/usr/或/etc" hold none.
 */
static size_t match_part(const char *text, size_t length, size_t at, const char *dividers)
{
    if (at == 0 || (unsigned char)text[at] < 0x80 || !doc_is_one_of(text[at - 1], dividers))
        return 0;
    size_t name = doc_match_name(text, length, at), end = at + name;
    if (name < SHORTEST_NAME || name > LONGEST_NAME)
        return 0;
    bool goes_on = doc_is_one_of(doc_at_or_zero(text, length, end), "/\\.?&#=%");
    return end == length || goes_on || doc_is_one_of(text[end], " \t\n") ? name : 0;
}

/* Characters of RFC 3986, all ASCII. */
static bool is_address_byte(char c)
{
    return doc_is_alnum(c) || doc_is_one_of(c, "-._~:/?#[]@!$&'()*+,;=%");
}

/* Marks at the end that belong to the sentence rather than to the address; a closing parenthesis
 * does unless its opening one is inside, an opening one always. */
static size_t trim_address(const char *text, size_t begin, size_t end)
{
    long open = 0;
    for (size_t i = begin; i < end; i++)
        open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    while (end > begin) {
        char last = text[end - 1];
        if (last == ')' ? open >= 0 : !doc_is_one_of(last, ".,;:!?'*]("))
            break;
        open += last == ')' ? 1 : last == '(' ? -1 : 0;
        end--;
    }
    return end;
}

/* Where the path, query and fragment end that begin at `at`. */
static size_t path_end(const char *text, size_t length, size_t at)
{
    while (at < length) {
        size_t bytes = is_address_byte(text[at]) ? 1 : match_part(text, length, at, "/=#&?");
        if (!bytes)
            break;
        at += bytes;
    }
    return at;
}

size_t doc_match_url(const char *text, size_t length, size_t at)
{
    static const char *const prefixes[] = {
        "http://", "https://", "ftp://", "mailto:", "file://", "ssh://", "git://", "www."};
    if (doc_is_inside_word(text, at))
        return 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!doc_starts_with(text, length, at, prefixes[i]))
            continue;
        size_t end = at + strlen(prefixes[i]), body = end;
        while (end < length && is_address_byte(text[end]) && text[end] != '/')
            end++;
        end = trim_address(text, body, path_end(text, length, end));
        return end > body ? end - at : 0;
    }
    return 0;
}

/* Labels joined by dots, the last one of letters only; at least two labels. */
static size_t match_domain(const char *text, size_t length, size_t at)
{
    size_t end = at, dots = 0, label = 0, good = 0;
    bool letters = true;
    for (; end < length && end - at < LONGEST_DOMAIN; end++) {
        char c = text[end];
        if (doc_is_alnum(c) || c == '-') {
            letters = letters && doc_is_alpha(c);
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

/* example.com, a.b.cn:8080, so.com/s?q=x: without http://, its last label says what it is. */
size_t doc_match_domain(const char *text, size_t length, size_t at)
{
    static const char *const endings[] = {"com", "cn", "org", "net", "edu",  "gov", "io",  "hk",
                                          "tw",  "ai", "app", "dev", "info", "biz", "cc",  "tv",
                                          "me",  "co", "uk",  "jp",  "de",   "top", "xyz", "site"};
    if (doc_is_inside_word(text, at) || !doc_is_alnum(doc_at_or_zero(text, length, at)) ||
        (at > 0 && doc_is_one_of(text[at - 1], "@.-/")))
        return 0;
    size_t end = at + match_domain(text, length, at), label = end;
    char next = doc_at_or_zero(text, length, end);
    if (doc_is_alnum(next) || doc_is_one_of(next, "_-"))
        return 0;
    while (label > at && text[label - 1] != '.')
        label--;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (strlen(endings[i]) != end - label || memcmp(endings[i], text + label, end - label) != 0)
            continue;
        size_t path = end;
        if (doc_at_or_zero(text, length, path) == ':')
            for (path++; path < length && doc_is_digit(text[path]);)
                path++;
        if (doc_at_or_zero(text, length, path) == '/')
            path = path_end(text, length, path);
        return trim_address(text, end, path) - at;
    }
    return 0;
}

size_t doc_match_email(const char *text, size_t length, size_t at)
{
    if (doc_is_inside_word(text, at) || !doc_is_alnum(doc_at_or_zero(text, length, at)))
        return 0;
    size_t end = at;
    while (end < length && end - at <= LONGEST_USER &&
           (doc_is_alnum(text[end]) || doc_is_one_of(text[end], "._%+-")))
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

/* A run of what paths are made of. */
typedef struct path {
    size_t end, dot, slashes, letters; /* dot: where the last one is */
} path;

/* A slash before Chinese alone is one of its marks (和/或): in a path that begins with a slash
 * Latin letters must come first. */
static path read_path(const char *text, size_t length, size_t at, bool rooted)
{
    path p = {.end = at};
    if (doc_is_alpha(text[at]) && doc_starts_with(text, length, at + 1, ":\\"))
        p.end += 2;
    while (p.end < length && p.end - at < LONGEST_PATH) {
        char c = text[p.end];
        bool named = rooted && (p.letters || text[at] != '/');
        size_t name = named ? match_part(text, length, p.end, "/\\") : 0;
        if (!name && !doc_is_alnum(c) && !doc_is_one_of(c, "._-+~/\\"))
            break;
        p.dot = c == '.' ? p.end : p.dot;
        p.slashes += c == '/' || c == '\\';
        p.letters += name || doc_is_alpha(c);
        p.end += name ? name : 1;
    }
    while (p.end > at && text[p.end - 1] == '.')
        p.end--;
    return p;
}

static bool ends_as_file(const char *text, const path *p)
{
    return p->dot + 1 < p->end && is_file_ending(text + p->dot + 1, p->end - p->dot - 1);
}

/* A path or a file name: config.json, ~/.bashrc, /etc/fstab, C:\dir\a.txt, ./run, src/main.c,
 * /home/a/文档/b.txt. */
size_t doc_match_file(const char *text, size_t length, size_t at)
{
    if (doc_is_inside_word(text, at) || (at > 0 && doc_is_one_of(text[at - 1], "/\\.<-")))
        return 0;
    bool rooted = doc_is_one_of(text[at], "/~") || doc_starts_with(text, length, at, "./") ||
                  doc_starts_with(text, length, at, "../") ||
                  doc_at_or_zero(text, length, at + 1) == ':';
    path p = read_path(text, length, at, rooted);
    if (!p.letters || p.end - at < 3)
        return 0;
    return (p.slashes && rooted) || (p.dot > at && ends_as_file(text, &p)) ? p.end - at : 0;
}

/* Quotation marks, opening and closing. */
static bool is_quote(int32_t character)
{
    utf8proc_category_t category = utf8proc_category(character);
    return character == '"' || character == '\'' || category == UTF8PROC_CATEGORY_PI ||
           category == UTF8PROC_CATEGORY_PF || (character >= 0x3008 && character <= 0x300F);
}

/* “报告.docx”, 《报告.docx》: without quotation marks the name has no beginning. */
size_t doc_match_quoted_file(const char *text, size_t length, size_t at)
{
    int32_t before, after;
    if (at == 0 || (unsigned char)text[at] < 0x80)
        return 0;
    text_decode_before(text, 0, at, &before);
    if (!is_quote(before))
        return 0;
    path p = {.dot = at + doc_match_name(text, length, at)};
    if (p.dot == at || p.dot - at > LONGEST_NAME || doc_at_or_zero(text, length, p.dot) != '.')
        return 0;
    for (p.end = p.dot + 1; p.end < length && doc_is_alnum(text[p.end]);)
        p.end++;
    if (p.end == length)
        return 0;
    text_decode(text + p.end, length - p.end, &after);
    return is_quote(after) && ends_as_file(text, &p) ? p.end - at : 0;
}

/* A command-line option: --output-dir, --width=80. */
size_t doc_match_option(const char *text, size_t length, size_t at)
{
    if (doc_is_inside_word(text, at) || (at > 0 && text[at - 1] == '-') ||
        !doc_starts_with(text, length, at, "--") ||
        !doc_is_alpha(doc_at_or_zero(text, length, at + 2)))
        return 0;
    size_t end = at + 2;
    while (end < length && (doc_is_alnum(text[end]) || doc_is_one_of(text[end], "-_=")))
        end++;
    return end - at;
}

/* @name: a Chinese name has no end but a blank, a mark or, where there is none, a limit. */
size_t doc_match_mention(const char *text, size_t length, size_t at)
{
    if (text[at] != '@' || doc_is_inside_word(text, at))
        return 0;
    size_t latin = at + 1;
    while (latin < length && (doc_is_alnum(text[latin]) || doc_is_one_of(text[latin], "_-/.")))
        latin++;
    while (latin > at + 1 && doc_is_one_of(text[latin - 1], "-/."))
        latin--;
    if (latin > at + 1)
        return latin - at;
    size_t name = doc_match_name(text, length, at + 1);
    return name && name <= 24 ? name + 1 : 0;
}

/* #topic#, as Weibo writes it, or #topic before a blank or the end. */
size_t doc_match_hashtag(const char *text, size_t length, size_t at)
{
    if (text[at] != '#' || doc_is_inside_word(text, at) || (at > 0 && text[at - 1] == '&'))
        return 0;
    size_t name = doc_match_name(text, length, at + 1), end = at + 1 + name;
    if (!name || name > LONGEST_NAME)
        return 0;
    if (doc_at_or_zero(text, length, end) == '#')
        return end + 1 - at;
    if (end == length || text_is_blank((unsigned char)text[end]))
        return end - at;
    return 0;
}
