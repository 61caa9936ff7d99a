/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_SHOW_H
#define TESSERA_TOOLS_SHOW_H

#include <jansson.h>

#include <tessera/desc.h>

/* Everything that a descriptor says, one thing a line. */
void show_text(const tsr_desc *desc);

/* Its layout in every dialect, or why one cannot say it. */
void show_dialects(const tsr_desc *desc);

/* All of it as an object, the dialects if asked. The caller owns it. */
json_t *show_json(const tsr_desc *desc, bool dialects);

#endif
