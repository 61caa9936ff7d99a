/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

/* Everything. */
#include <tessera/algebra.h>
#include <tessera/arithmetic.h>
#include <tessera/blob.h>
#include <tessera/caffe.h>
#include <tessera/caffe_proto.h>
#include <tessera/compound.h>
#include <tessera/cpu.h>
#include <tessera/desc.h>
#include <tessera/device.h>
#include <tessera/dialect.h>
#include <tessera/dlpack.h>
#include <tessera/dtype.h>
#include <tessera/export.h>
#include <tessera/memory.h>
#include <tessera/neoml.h>
#include <tessera/npy.h>
#include <tessera/onednn.h>
#include <tessera/openvino.h>
#include <tessera/parallel.h>
#include <tessera/placement.h>
#include <tessera/plan_cache.h>
#include <tessera/reorder.h>
#include <tessera/status.h>
#include <tessera/storage.h>
#include <tessera/text.h>
#include <tessera/topology.h>
#include <tessera/view.h>
#include <tessera/wisdom.h>

#endif
