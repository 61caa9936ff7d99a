/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_TAG_H
#define TESSERA_SRC_DESC_TAG_H

#include <tessera/desc.h>

/* Room for any tag. */
#define TSR_TAG_SIZE (TSR_MAX_LEVELS * 21 + 1)

/* The tag of a layout in the letters a, b, c, ...; false when it is none: not dense, or with an offset. */
bool tsr_tag_print(const tsr_desc *desc, char text[TSR_TAG_SIZE]);

#endif
