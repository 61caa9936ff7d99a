/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for this folder in a build without OpenCL: there are no such devices. */
#include "blocked/device.h"

void tsr_register_opencl(void)
{
}
