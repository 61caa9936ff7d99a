/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_PORT_CAFFE_LAYER_TYPE_H
#define TESSERA_SRC_PORT_CAFFE_LAYER_TYPE_H

#include <stdint.h>

/* What V2 calls the layer of a number in V1LayerParameter.LayerType; "" for NONE and numbers that it does not have. */
const char *tsr_caffe_type_of_v1(int32_t number);

/* What V2 calls the layer of a name in V0; a name that it does not have is returned as it is. */
const char *tsr_caffe_type_of_v0(const char *name);

#endif
