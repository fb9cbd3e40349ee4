/* The protobuf wire format (protobuf.dev/programming-guides/encoding), read field by field. */
#ifndef TOKENIZER_WIRE_H
#define TOKENIZER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a message that are not read yet. */
typedef struct spm_wire {
    const unsigned char *at, *end;
} spm_wire;

typedef enum spm_wire_type {
    SPM_WIRE_VARINT = 0,
    SPM_WIRE_FIXED64 = 1,
    SPM_WIRE_BYTES = 2, /* a string, a byte string or a message */
    SPM_WIRE_FIXED32 = 5
} spm_wire_type;

typedef struct spm_field {
    uint32_t number;
    spm_wire_type type;
    uint64_t value; /* of a number, as it stands in the file */
    spm_wire bytes; /* of SPM_WIRE_BYTES; points into the message */
} spm_field;

typedef enum spm_wire_result {
    SPM_WIRE_FIELD,
    SPM_WIRE_END,      /* the message is complete */
    SPM_WIRE_MALFORMED /* cut short, or no protobuf at all */
} spm_wire_result;

spm_wire_result spm_wire_next(spm_wire *wire, spm_field *field);

#endif
