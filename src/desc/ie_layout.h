/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_IE_LAYOUT_H
#define TESSERA_SRC_DESC_IE_LAYOUT_H

#include <tessera/openvino.h>

/* The layout that the order of the axes is called by; strides and offset do not count. */
tsr_ie_layout tsr_ie_layout_of(const tsr_desc *desc);

/* Is it called so? If it has no name, only levels of more than one index count: views put the others in other
 * places. */
bool tsr_ie_layout_fits(const tsr_desc *desc, tsr_ie_layout layout);

#endif
