/* SPDX-License-Identifier: Apache-2.0 */
#include "base/machine.h"

#include <inttypes.h>
#include <string.h>

#include <tessera/cpu.h>
#include <tessera/topology.h>

#include "base/writer.h"

enum { MODEL_SIZE = 49 };

#if defined(__x86_64__)
#include <cpuid.h>

/* The processor's own name for itself, padded with blanks on either side. */
static void read_model(char model[MODEL_SIZE])
{
    const unsigned first_leaf = 0x80000002, leaves = 3;
    unsigned part[4];
    for (unsigned i = 0; i < leaves; i++)
        if (__get_cpuid(first_leaf + i, &part[0], &part[1], &part[2], &part[3]))
            memcpy(model + i * sizeof part, part, sizeof part);
}
#else
static void read_model(char model[MODEL_SIZE])
{
    (void)model;
}
#endif

/* Words with one blank between them, of characters that may stand in a text. */
static void tidy(char *model)
{
    size_t length = 0;
    for (const char *at = model; *at; at++) {
        char character = *at > ' ' && *at <= '~' ? *at : ' ';
        if (character != ' ' || (length > 0 && model[length - 1] != ' '))
            model[length++] = character;
    }
    while (length > 0 && model[length - 1] == ' ')
        length--;
    model[length] = '\0';
}

int tsr_machine_print(char *text, size_t size)
{
    char model[MODEL_SIZE] = "";
    const tsr_topology *topology = tsr_topology_machine();
    tsr_writer out = {text, size, 0};
    read_model(model);
    tidy(model);
    tsr_write(&out, "%s, %s, caches %" PRId64 " %" PRId64 " %" PRId64, *model ? model : "unnamed",
              tsr_cpu_rung_name(tsr_cpu_detected()), topology->l1_bytes, topology->l2_bytes, topology->l3_bytes);
    return (int)out.length;
}
