#include "tokenizer/wire.h"

/* Little-endian groups of seven bits; the top bit of a byte says that another follows. */
static bool read_varint(spm_wire *wire, uint64_t *value)
{
    uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
        unsigned char byte = *wire->at++;
        result |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) {
            *value = result;
            return true;
        }
    }
    return false;
}

static bool read_fixed(spm_wire *wire, unsigned size, uint64_t *value)
{
    if ((size_t)(wire->end - wire->at) < size)
        return false;
    *value = 0;
    for (unsigned i = 0; i < size; i++)
        *value |= (uint64_t)wire->at[i] << (8 * i);
    wire->at += size;
    return true;
}

static bool read_bytes(spm_wire *wire, spm_wire *bytes)
{
    uint64_t length;
    if (!read_varint(wire, &length) || length > (uint64_t)(wire->end - wire->at))
        return false;
    bytes->at = wire->at;
    bytes->end = wire->at + length;
    wire->at = bytes->end;
    return true;
}

static bool read_field(spm_wire *wire, spm_field *field)
{
    uint64_t tag;
    if (!read_varint(wire, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
        return false;
    *field = (spm_field){.number = (uint32_t)(tag >> 3), .type = (spm_wire_type)(tag & 7)};
    switch (field->type) {
    case SPM_WIRE_VARINT:
        return read_varint(wire, &field->value);
    case SPM_WIRE_FIXED64:
        return read_fixed(wire, 8, &field->value);
    case SPM_WIRE_BYTES:
        return read_bytes(wire, &field->bytes);
    case SPM_WIRE_FIXED32:
        return read_fixed(wire, 4, &field->value);
    }
    return false; /* groups, which no SentencePiece model has, or no wire type at all */
}

spm_wire_result spm_wire_next(spm_wire *wire, spm_field *field)
{
    if (wire->at == wire->end)
        return SPM_WIRE_END;
    return read_field(wire, field) ? SPM_WIRE_FIELD : SPM_WIRE_MALFORMED;
}
