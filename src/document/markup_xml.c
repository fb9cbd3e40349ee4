/* XML by expat: it says where every tag begins and ends; what lies between is text. */
#include "base/error.h"
#include "document/markup.h"

#include <expat.h>
#include <string.h>

typedef struct reading {
    const zhen_document *document;
    XML_Parser parser;
    doc_tags *tags;
    size_t end;        /* of the last token */
    size_t depth;      /* of open elements: text outside the root is none */
    zhen_span pending; /* a declaration or CDATA section that has begun */
    bool failed;       /* out of memory */
} reading;

static zhen_span current(const reading *r)
{
    size_t begin = r->document->body + (size_t)XML_GetCurrentByteIndex(r->parser);
    return (zhen_span){begin, begin + (size_t)XML_GetCurrentByteCount(r->parser)};
}

static void add(reading *r, doc_token_kind kind, zhen_span raw, zhen_span name)
{
    if (raw.begin > r->end && r->depth > 0) {
        doc_tag text = {.kind = DOC_TOKEN_TEXT, .raw = {r->end, raw.begin}};
        r->failed = r->failed || !doc_tags_add(r->tags, &text);
    }
    doc_tag tag = {.kind = kind, .raw = raw, .name = name};
    r->failed = r->failed || !doc_tags_add(r->tags, &tag);
    r->end = raw.end;
    if (r->failed)
        XML_StopParser(r->parser, XML_FALSE);
}

/* The name behind < or </. */
static zhen_span name_at(size_t begin, const char *name)
{
    return (zhen_span){begin, begin + strlen(name)};
}

static void XMLCALL start_element(void *data, const XML_Char *name, const XML_Char **attributes)
{
    (void)attributes;
    reading *r = data;
    zhen_span raw = current(r);
    bool empty = raw.end >= raw.begin + 2 && r->document->source.data[raw.end - 2] == '/';
    add(r, empty ? DOC_TOKEN_EMPTY : DOC_TOKEN_OPEN, raw, name_at(raw.begin + 1, name));
    r->depth++;
}

static void XMLCALL end_element(void *data, const XML_Char *name)
{
    reading *r = data;
    zhen_span raw = current(r);
    if (raw.end > raw.begin)
        add(r, DOC_TOKEN_CLOSE, raw, name_at(raw.begin + 2, name));
    r->depth--;
}

static void XMLCALL comment(void *data, const XML_Char *text)
{
    (void)text;
    reading *r = data;
    add(r, DOC_TOKEN_COMMENT, current(r), (zhen_span){0, 0});
}

static void XMLCALL instruction(void *data, const XML_Char *target, const XML_Char *text)
{
    (void)target;
    (void)text;
    reading *r = data;
    add(r, DOC_TOKEN_OTHER, current(r), (zhen_span){0, 0});
}

static void XMLCALL start_cdata(void *data)
{
    reading *r = data;
    r->pending = current(r);
}

static void XMLCALL end_cdata(void *data)
{
    reading *r = data;
    add(r, DOC_TOKEN_OTHER, (zhen_span){r->pending.begin, current(r).end}, (zhen_span){0, 0});
}

static void XMLCALL start_doctype(void *data, const XML_Char *name, const XML_Char *system,
                                  const XML_Char *public, int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    reading *r = data;
    r->pending = current(r);
}

static void XMLCALL end_doctype(void *data)
{
    reading *r = data;
    add(r, DOC_TOKEN_OTHER, (zhen_span){r->pending.begin, current(r).end}, (zhen_span){0, 0});
}

/* With a default handler, expat does not expand entities that the document defines. */
static void XMLCALL ignore(void *data, const XML_Char *text, int length)
{
    (void)data;
    (void)text;
    (void)length;
}

static void set_handlers(reading *r)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, start_element, end_element);
    XML_SetCommentHandler(r->parser, comment);
    XML_SetProcessingInstructionHandler(r->parser, instruction);
    XML_SetCdataSectionHandler(r->parser, start_cdata, end_cdata);
    XML_SetDoctypeDeclHandler(r->parser, start_doctype, end_doctype);
    XML_SetDefaultHandler(r->parser, ignore);
    /* Entities that are declared nowhere (&nbsp; without a DTD) are not an error for us. */
    XML_UseForeignDTD(r->parser, XML_TRUE);
    XML_SetParamEntityParsing(r->parser, XML_PARAM_ENTITY_PARSING_UNLESS_STANDALONE);
}

/* expat takes sizes as int. */
static bool parse(const reading *r)
{
    const size_t step = (size_t)1 << 26;
    const base_buffer *source = &r->document->source;
    for (size_t at = r->document->body;; at += step) {
        size_t left = source->length - at;
        bool last = left <= step;
        if (XML_Parse(r->parser, source->data + at, (int)(last ? left : step), last) !=
            XML_STATUS_OK)
            return false;
        if (last)
            return true;
    }
}

zhen_status doc_tags_read_xml(const zhen_document *document, doc_tags *tags, zhen_error *error)
{
    reading r = {.document = document, .tags = tags, .end = document->body};
    r.parser = XML_ParserCreate("UTF-8");
    if (!r.parser)
        return base_fail_memory(error);
    set_handlers(&r);
    zhen_status status = ZHEN_OK;
    if (!parse(&r)) {
        enum XML_Error code = XML_GetErrorCode(r.parser);
        status = r.failed || code == XML_ERROR_NO_MEMORY
                     ? base_fail_memory(error)
                     : doc_fail_at(document, current(&r).begin, error, "not XML: %s",
                                   XML_ErrorString(code));
    }
    XML_ParserFree(r.parser);
    return status;
}
