/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BASE_MACHINE_H
#define TESSERA_SRC_BASE_MACHINE_H

#include <stddef.h>

/*
 * One line that tells machines apart whose times differ: "MODEL, RUNG, caches L1 L2 L3", with the
 * instruction set that was detected, and bytes. Returns as snprintf does.
 */
int tsr_machine_print(char *text, size_t size);

#endif
