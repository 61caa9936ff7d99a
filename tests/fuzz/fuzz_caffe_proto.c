/* SPDX-License-Identifier: Apache-2.0 */
/* A message of Caffe; the first byte says of which kind. Blobs that can be read are written and read again. */
#include <tessera/caffe_proto.h>

#include "target.h"

static void check_round_trip(const tsr_caffe_blob_proto *blob)
{
    size_t size_bytes, written;
    tsr_caffe_proto *proto = NULL;
    tsr_caffe_blob_proto again;
    FUZZ_REQUIRE(tsr_caffe_blob_proto_write(blob, NULL, 0, &size_bytes, NULL) == TSR_OK);
    char *bytes = malloc(size_bytes + 1);
    FUZZ_REQUIRE(bytes != NULL);
    FUZZ_REQUIRE(tsr_caffe_blob_proto_write(blob, bytes, size_bytes, &written, NULL) == TSR_OK);
    FUZZ_REQUIRE(written == size_bytes);
    FUZZ_REQUIRE(tsr_caffe_proto_parse(&proto, TSR_CAFFE_BLOB_PROTO, bytes, size_bytes, NULL, NULL) == TSR_OK);
    FUZZ_REQUIRE(tsr_caffe_proto_blob(&again, proto, 0, 0, NULL) == TSR_OK);
    FUZZ_REQUIRE(again.rank == blob->rank && memcmp(again.dims, blob->dims, sizeof blob->dims) == 0);
    FUZZ_REQUIRE(again.data.count == blob->data.count && again.diff.count == blob->diff.count);
    tsr_caffe_proto_free(&proto);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tsr_caffe_proto *proto = NULL;
    tsr_caffe_layer layer;
    tsr_caffe_blob_proto blob;
    tsr_error error = {0};
    if (size == 0)
        return 0;
    if (tsr_caffe_proto_parse(&proto, (tsr_caffe_kind)(data[0] % 3), data + 1, size - 1, NULL, &error) != TSR_OK)
        FUZZ_REQUIRE(error.status == TSR_PARSE_ERROR || error.status == TSR_UNSUPPORTED);
    for (int i = 0; proto && tsr_caffe_proto_layer(&layer, proto, i, NULL) == TSR_OK; i++)
        for (int k = 0; k < layer.blobs; k++)
            if (tsr_caffe_proto_blob(&blob, proto, i, k, NULL) == TSR_OK)
                check_round_trip(&blob);
    tsr_caffe_proto_free(&proto);
    return 0;
}
