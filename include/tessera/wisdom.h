/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_WISDOM_H
#define TESSERA_WISDOM_H

#include <tessera/reorder.h>
#include <tessera/text.h>

TSR_BEGIN_DECLS

/*
 * Wisdom, as FFTW calls it, is what measurements on this machine have taught: for each problem, the
 * options that make its plan fastest. `tessera tune` measures and writes it, plans read it, and without
 * it the built-in cost model decides. It changes how fast a plan is, and never what it does.
 *
 * In a file, the first line names the machine, and each other line one problem, sorted:
 *
 *     tessera-wisdom 1 Intel(R) Xeon(R) Processor, avx512vbmi, caches 32768 1048576 34603008
 *     avx512vbmi 1 u8:nhwc>f32:nchw 1x3x224x224 scale[1] mean[1] = convert never 0 118
 *
 * instruction set and most threads of the plan, problem (text.h; the values of factors do not matter) =
 * row, streaming (auto, never or always), tile_bytes, and time in percent of memcpy's.
 *
 * Any number of threads may read one wisdom, while none changes it.
 */

/* What was learnt of one problem. {"transpose", TSR_STREAMING_AUTO, 0, 0} leaves all but the row to the library. */
typedef struct tsr_lesson {
    const char *row;
    tsr_streaming streaming;
    int64_t tile_bytes;
    double cost; /* time over that of memcpy, kept to 1/100 up to 10000; 0: not known */
} tsr_lesson;

/* No wisdom yet. Free it with tsr_wisdom_free. TSR_OUT_OF_MEMORY. */
TSR_API TSR_MUST_CHECK tsr_status tsr_wisdom_create(tsr_wisdom **wisdom, tsr_error *error);

/*
 * That of a file. Free it with tsr_wisdom_free.
 *
 * TSR_IO_ERROR       the file cannot be read, or is not there
 * TSR_PARSE_ERROR    a line is malformed; the message says which, and what was expected
 * TSR_UNSUPPORTED    it is of another machine, or of another version of the format
 * TSR_OUT_OF_MEMORY
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_wisdom_read(tsr_wisdom **wisdom, const char *path, tsr_error *error);

/*
 * Keeps a lesson for plans with this problem and so many threads on the instruction set that
 * tsr_cpu_flags gives; what was known of it before is forgotten.
 *
 * TSR_INVALID_ARGUMENT  no thread, an unknown row, a lesson out of its range
 * TSR_OUT_OF_MEMORY     the wisdom is as it was
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_wisdom_learn(tsr_wisdom *wisdom, const tsr_problem *problem, int threads,
                                                   const tsr_lesson *lesson, tsr_error *error);

/* The file is there when it is complete: a reader sees the old one or the new one. TSR_IO_ERROR, TSR_OUT_OF_MEMORY. */
TSR_API TSR_MUST_CHECK tsr_status tsr_wisdom_write(const tsr_wisdom *wisdom, const char *path, tsr_error *error);

TSR_API void tsr_wisdom_free(tsr_wisdom **wisdom);

/*
 * The file of the default wisdom: what TSR_WISDOM names in the environment, else tessera/wisdom in
 * $XDG_CONFIG_HOME, or in $HOME/.config. "" if TSR_WISDOM is empty or there is no home: then there is no such
 * file. Returns as snprintf does.
 */
TSR_API int tsr_wisdom_path(char *path, size_t size);

/*
 * The wisdom that NULL stands for in the options of a plan: that file, read once, when the first plan
 * asks for it. It lives as long as the process and never changes. NULL without such a file, and TSR_OK.
 * A file that cannot be used is ignored as a whole: NULL, and why, as tsr_wisdom_read says it.
 */
TSR_API tsr_status tsr_default_wisdom(const tsr_wisdom **wisdom, tsr_error *error);

TSR_END_DECLS

#endif
