/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "port/caffe/wire.h"

/* The limits of libprotobuf. */
#define VARINT_BYTES_MAX 10
#define TAG_BYTES_MAX 5
#define LENGTH_BYTES_MAX 5
#define GROUP_DEPTH_MAX 100

/*
 * Ours: each message and string inside of a message is an allocation of some 200 bytes, but may take as few as two in
 * the file. A layer has about ten.
 */
#define PARTS_MAX (1 << 20)

enum { VARINT, FIXED64, LENGTH, GROUP, END_GROUP, FIXED32 };

typedef struct wire {
    const unsigned char *start, *at; /* of what is read */
    unsigned char *to;               /* the end of what is written */
    int depth;                       /* of groups */
    int parts;                       /* messages and strings so far */
    tsr_error *error;
} wire;

typedef struct field {
    const unsigned char *start, *length, *value, *end; /* length is where the bytes of a length begin */
    unsigned number, wire_type;
} field;

/* TSR_PARSE_ERROR, "byte 7: ..." */
#define FAIL_AT(wire, place, format, ...)                                                                              \
    tsr_fail((wire)->error, TSR_PARSE_ERROR, "byte %zu: " format, (size_t)((place) - (wire)->start), __VA_ARGS__)

static tsr_status read_varint(wire *wire, const unsigned char *end, int bytes_max, const char *what, uint64_t *value)
{
    const unsigned char *start = wire->at;
    *value = 0;
    for (int i = 0; i < bytes_max; i++) {
        if (wire->at == end)
            return FAIL_AT(wire, start, "%s is cut off after %d bytes", what, i);
        unsigned char byte = *wire->at++;
        *value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            return TSR_OK;
    }
    return FAIL_AT(wire, start, "%s of more than %d bytes", what, bytes_max);
}

/* A tag. Only a group may have an end, and it must be its own. */
static tsr_status read_tag(wire *wire, const unsigned char *end, const field *group, field *field)
{
    uint64_t tag;
    field->start = wire->at;
    tsr_status status = read_varint(wire, end, TAG_BYTES_MAX, "a tag", &tag);
    if (status != TSR_OK)
        return status;
    if (tag >> 3 == 0 || tag > UINT32_MAX)
        return FAIL_AT(wire, field->start, "field number %llu, expected 1 to 536870911", (unsigned long long)tag >> 3);
    field->number = (unsigned)tag >> 3;
    field->wire_type = tag & 7;
    if (field->wire_type > FIXED32)
        return FAIL_AT(wire, field->start, "field %u has wire type %u, expected 0 to 5", field->number,
                       field->wire_type);
    if (field->wire_type == END_GROUP && (!group || group->number != field->number))
        return FAIL_AT(wire, field->start, "the end of group %u, which is not open", field->number);
    return TSR_OK;
}

static tsr_status skip_bytes(wire *wire, const unsigned char *end, uint64_t count, const field *field)
{
    if (count > (uint64_t)(end - wire->at))
        return FAIL_AT(wire, field->start, "field %u has %llu bytes, but %zu are left", field->number,
                       (unsigned long long)count, (size_t)(end - wire->at));
    wire->at += count;
    return TSR_OK;
}

static tsr_status skip_group(wire *wire, const unsigned char *end, const field *group);

/* Goes behind the value of a field whose tag was read. */
static tsr_status skip_value(wire *wire, const unsigned char *end, field *field)
{
    uint64_t length = field->wire_type == FIXED64 ? 8 : 4;
    tsr_status status = TSR_OK;
    field->length = field->value = wire->at;
    if (field->wire_type == VARINT) {
        status = read_varint(wire, end, VARINT_BYTES_MAX, "a number", &length);
    } else if (field->wire_type == GROUP) {
        status = skip_group(wire, end, field);
    } else {
        if (field->wire_type == LENGTH)
            status = read_varint(wire, end, LENGTH_BYTES_MAX, "a length", &length);
        field->value = wire->at;
        if (status == TSR_OK)
            status = skip_bytes(wire, end, length, field);
    }
    field->end = wire->at;
    return status;
}

static tsr_status skip_group(wire *wire, const unsigned char *end, const field *group)
{
    field field = {.wire_type = GROUP};
    if (wire->depth == GROUP_DEPTH_MAX)
        return FAIL_AT(wire, group->start, "more than %d groups in each other", GROUP_DEPTH_MAX);
    wire->depth++;
    while (field.wire_type != END_GROUP) {
        if (wire->at == end)
            return FAIL_AT(wire, group->start, "group %u has no end", group->number);
        tsr_status status = read_tag(wire, end, group, &field);
        if (status == TSR_OK && field.wire_type != END_GROUP)
            status = skip_value(wire, end, &field);
        if (status != TSR_OK)
            return status;
    }
    wire->depth--;
    return TSR_OK;
}

static unsigned wire_type_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_FLOAT:
        return FIXED32;
    case PROTOBUF_C_TYPE_DOUBLE:
        return FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return LENGTH;
    default:
        return VARINT;
    }
}

/* Several numbers under one tag; any repeated number may come so, whether it is declared as packed or not. */
static bool is_packed(const ProtobufCFieldDescriptor *known, const field *field)
{
    return known->label == PROTOBUF_C_LABEL_REPEATED && wire_type_of(known->type) != LENGTH &&
           field->wire_type == LENGTH;
}

static tsr_status check_packed(wire *wire, const ProtobufCFieldDescriptor *known, const field *field)
{
    size_t size_bytes = (size_t)(field->end - field->value);
    size_t element_bytes = known->type == PROTOBUF_C_TYPE_FLOAT ? 4 : known->type == PROTOBUF_C_TYPE_DOUBLE ? 8 : 1;
    tsr_status status = TSR_OK;
    if (size_bytes % element_bytes != 0)
        return FAIL_AT(wire, field->start, "%s has %zu bytes, expected a multiple of %zu", known->name, size_bytes,
                       element_bytes);
    wire->at = element_bytes == 1 ? field->value : field->end;
    while (status == TSR_OK && wire->at < field->end) {
        uint64_t ignored;
        status = read_varint(wire, field->end, VARINT_BYTES_MAX, known->name, &ignored);
    }
    return status;
}

static void append(wire *wire, const unsigned char *from, const unsigned char *end)
{
    memcpy(wire->to, from, (size_t)(end - from));
    wire->to += end - from;
}

static tsr_status copy_message(wire *wire, const unsigned char *end, const ProtobufCMessageDescriptor *message);

/* A varint may be longer than its number needs. */
static void write_length(unsigned char *to, size_t bytes, size_t length)
{
    for (size_t i = 0; i < bytes; i++, length >>= 7)
        to[i] = (unsigned char)((length & 0x7f) | (i + 1 < bytes ? 0x80 : 0));
}

static tsr_status copy_field(wire *wire, const ProtobufCFieldDescriptor *known, const field *field)
{
    if (wire_type_of(known->type) == LENGTH && ++wire->parts > PARTS_MAX)
        return tsr_fail(wire->error, TSR_UNSUPPORTED, "byte %zu: more than %d messages and strings",
                        (size_t)(field->start - wire->start), PARTS_MAX);
    if (known->type == PROTOBUF_C_TYPE_MESSAGE) {
        append(wire, field->start, field->value);
        unsigned char *value = wire->to;
        size_t length_bytes = (size_t)(field->value - field->length);
        wire->at = field->value;
        tsr_status status = copy_message(wire, field->end, known->descriptor);
        write_length(value - length_bytes, length_bytes, (size_t)(wire->to - value));
        return status;
    }
    if (known->type == PROTOBUF_C_TYPE_STRING && memchr(field->value, 0, (size_t)(field->end - field->value)))
        return tsr_fail(wire->error, TSR_UNSUPPORTED, "byte %zu: the string %s contains a 0",
                        (size_t)(field->start - wire->start), known->name);
    append(wire, field->start, field->end);
    return is_packed(known, field) ? check_packed(wire, known, field) : TSR_OK;
}

static tsr_status copy_message(wire *wire, const unsigned char *end, const ProtobufCMessageDescriptor *message)
{
    tsr_status status = TSR_OK;
    while (status == TSR_OK && wire->at < end) {
        field field;
        status = read_tag(wire, end, NULL, &field);
        if (status == TSR_OK)
            status = skip_value(wire, end, &field);
        if (status != TSR_OK)
            break;
        const ProtobufCFieldDescriptor *known = protobuf_c_message_descriptor_get_field(message, field.number);
        if (known && (field.wire_type == wire_type_of(known->type) || is_packed(known, &field)))
            status = copy_field(wire, known, &field);
    }
    return status;
}

tsr_status tsr_wire_copy(unsigned char *to, size_t *copied_bytes, const unsigned char *from, size_t size_bytes,
                         const ProtobufCMessageDescriptor *message, tsr_error *error)
{
    if (size_bytes == 0) {
        *copied_bytes = 0;
        return TSR_OK;
    }
    wire wire = {.start = from, .at = from, .to = to, .error = error};
    tsr_status status = copy_message(&wire, from + size_bytes, message);
    *copied_bytes = (size_t)(wire.to - to);
    return status;
}
