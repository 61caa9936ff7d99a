/* SPDX-License-Identifier: Apache-2.0 */
#define RUNG c
#include "reorder/kernels/row.h"
#include "reorder/kernels/packed.h"
