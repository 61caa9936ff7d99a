/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_PORT_CAFFE_WIRE_H
#define TESSERA_SRC_PORT_CAFFE_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include <tessera/status.h>

/*
 * Copies a message for protobuf-c to unpack, and checks it, because protobuf-c
 *
 *   - refuses groups, and known fields of another wire type, where libprotobuf skips both as unknown;
 *   - keeps copies of all unknown fields, of which a net is full;
 *   - takes field number 0 for an unknown field;
 *   - takes a hundred times their size in memory for messages that have nothing in them;
 *   - says only that a message is bad, not what is and where.
 *
 * So the copy has only what the descriptor knows, and the only thing left to fail is memory. It is never longer than
 * the original, since a message inside that shrinks keeps its length in as many bytes. The bytes are described at
 * https://protobuf.dev/programming-guides/encoding
 *
 * TSR_PARSE_ERROR; TSR_UNSUPPORTED for a string that contains a 0, which has no place in C, and for more than 2^20
 * messages and strings.
 */
tsr_status tsr_wire_copy(unsigned char *to, size_t *copied_bytes, const unsigned char *from, size_t size_bytes,
                         const ProtobufCMessageDescriptor *message, tsr_error *error);

#endif
