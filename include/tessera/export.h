/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_EXPORT_H
#define TESSERA_EXPORT_H

/*
 * What every other header needs: symbol visibility, and the attribute that makes a compiler warn
 * when a status is dropped.
 *
 * Conventions of all headers:
 *  - sizes, strides and offsets are in elements; a name that ends in _bytes is in bytes;
 *  - a pointer to an out parameter is written on success only, unless said otherwise;
 *  - functions may be called from any thread at any time, unless said otherwise;
 *  - an object that holds resources is freed by a function that takes T **, accepts
 *    NULL and a pointer to NULL, and leaves NULL behind.
 */

#if defined(__GNUC__)
#define TSR_API __attribute__((visibility("default")))
#define TSR_MUST_CHECK __attribute__((warn_unused_result))
#define TSR_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define TSR_API
#define TSR_MUST_CHECK
#define TSR_PRINTF(format_index, first_argument)
#endif

#ifdef __cplusplus
#define TSR_BEGIN_DECLS extern "C" {
#define TSR_END_DECLS }
#else
#define TSR_BEGIN_DECLS
#define TSR_END_DECLS
#endif

#endif
