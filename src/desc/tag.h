/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_TAG_H
#define TESSERA_SRC_DESC_TAG_H

#include <tessera/text.h>

/* Room for any tag. */
#define TSR_TAG_SIZE (TSR_MAX_LEVELS * 21 + 1)

/*
 * The name of a layout, or its tag in the letters a, b, c, ... where it has none in that role or the
 * role is TSR_ROLE_NONE. False when no tag can say it: more than 26 axes, or inner blocks that do not
 * come last.
 */
bool tsr_tag_print(const tsr_layout *layout, tsr_role role, char text[TSR_TAG_SIZE]);

/* The same for a descriptor: as it is written, or if that is no tag, as its canonical form is. */
bool tsr_tag_of(const tsr_desc *desc, tsr_role role, char text[TSR_TAG_SIZE]);

#endif
