#include "document/binary.h"

#include <string.h>

static const struct {
    const char *bytes;
    size_t length;
    const char *kind;
} kinds[] = {
    {"PK\3\4", 4, "a ZIP archive (as .docx, .xlsx, .pptx, .odt and .epub are)"},
    {"%PDF-", 5, "a PDF file"},
    {"{\\rtf", 5, "an RTF file"},
    {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8, "an old Office file (as .doc, .xls and .ppt are)"},
    {"\x1F\x8B\x08", 3, "compressed by gzip"},
    {"\xFD"
     "7zXZ",
     6, "compressed by xz"},
    {"\x28\xB5\x2F\xFD", 4, "compressed by zstd"},
    {"BZh91AY&SY", 10, "compressed by bzip2"},
    {"7z\xBC\xAF\x27\x1C", 6, "a 7z archive"},
    {"Rar!\x1A\x07", 6, "a RAR archive"},
    {"\x89PNG\r\n\x1A\n", 8, "a picture"},
    {"\xFF\xD8\xFF", 3, "a picture"},
    {"GIF89a", 6, "a picture"},
    {"SQLite format 3", 16, "a database"},
    {"\x7F"
     "ELF",
     4, "a program"},
};

const char *doc_binary_kind(const char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (length >= kinds[i].length && memcmp(bytes, kinds[i].bytes, kinds[i].length) == 0)
            return kinds[i].kind;
    return NULL;
}
