#include "document/patterns.h"

#include "text/utf8.h"

#include <stdint.h>
#include <utf8proc.h>

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
    return (c < 0x80 && c > 0 && (doc_is_alnum((char)c) || strchr(" ./\\\"", (char)c))) ||
           (c >= 0x0370 && c <= 0x04FF) || (c >= 0x3040 && c <= 0x30FF) ||
           (c >= 0xFF00 && c <= 0xFF9F) || (c >= 0x0C80 && c <= 0x0CFF);
}

size_t doc_match_face(const char *text, size_t length, size_t at)
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
size_t doc_match_smiley(const char *text, size_t length, size_t at)
{
    static const char *const faces[] = {":-)", ":)",  ";-)", ";)",  ":-(", ":(",  ":-D",
                                        ":D",  ":P",  ":-P", "XD",  "T_T", "T.T", "^_^",
                                        "^^",  "-_-", ">_<", "=_=", "o_O", "O_O", "QAQ"};
    if (doc_is_inside_word(text, at))
        return 0;
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++) {
        size_t end = at + strlen(faces[i]);
        if (doc_starts_with(text, length, at, faces[i]) &&
            !doc_is_alnum(doc_at_or_zero(text, length, end)))
            return end - at;
    }
    return 0;
}
