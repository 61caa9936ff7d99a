/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_BENCH_PEERS_H
#define TESSERA_BENCH_PEERS_H

#include "peer.h"

TSR_BEGIN_DECLS

extern const peer openblas_peer, opencv_peer, xnnpack_peer;

TSR_END_DECLS

#endif
