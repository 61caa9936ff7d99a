/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_NPY_FILES_H
#define TESSERA_TESTS_NPY_FILES_H

/* .npy files for tests, in a folder of their own for each test. Include behind <cmocka.h>. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tessera/npy.h>

#define FILE_BYTES 4096

static const struct {
    tsr_dtype dtype;
    const char *descr;
} types[] = {
    {TSR_F16, "<f2"}, {TSR_F32, "<f4"}, {TSR_F64, "<f8"}, {TSR_S8, "|i1"},  {TSR_S16, "<i2"}, {TSR_S32, "<i4"},
    {TSR_S64, "<i8"}, {TSR_U8, "|u1"},  {TSR_U16, "<u2"}, {TSR_U32, "<u4"}, {TSR_U64, "<u8"}, {TSR_BOOL, "|b1"},
};

#define TYPE_COUNT (sizeof types / sizeof types[0])

static char folder[256];

/* A path in the folder; four of them live at a time. */
static inline const char *path_of(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline int count_entries(const char *path)
{
    DIR *stream = opendir(path);
    assert_non_null(stream);
    int count = 0;
    for (const struct dirent *entry = readdir(stream); entry; entry = readdir(stream))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return count;
}

static inline int make_folder(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_npy.XXXXXX", parent && strlen(parent) < 80 ? parent : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

/* Fails when a test, or the library, left a file that the test does not know of. */
static inline int remove_folder(void **state)
{
    (void)state;
    static const char *const known[] = {"a.npy", "b.npy", "link.npy", "pipe.npy", "stdout.npy"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        unlink(path_of(known[i]));
    return rmdir(folder);
}

static inline void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline size_t read_bytes(const char *path, void *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, size, file);
    fclose(file);
    return count;
}

/* A file as bytes: the header is not padded, so the data may lie anywhere. */
static inline size_t compose(unsigned char *file, int version, const char *header, const void *data, size_t data_bytes)
{
    size_t length = strlen(header);
    size_t start = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[7] = 0;
    for (size_t i = 8; i < start; i++)
        file[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(file + start, header, length);
    if (data_bytes)
        memcpy(file + start + length, data, data_bytes);
    return start + length + data_bytes;
}

static inline tsr_status open_bytes(tsr_npy **npy, const void *bytes, size_t size, tsr_error *error)
{
    write_bytes(path_of("a.npy"), bytes, size);
    return tsr_npy_open(npy, path_of("a.npy"), error);
}

static inline tsr_status open_pipe(tsr_npy **npy, const void *bytes, size_t size, tsr_error *error)
{
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    tsr_status status = tsr_npy_open(npy, path, error);
    close(ends[0]);
    return status;
}

static inline tsr_npy *open_header(int version, const char *header, const void *data, size_t data_bytes)
{
    unsigned char file[FILE_BYTES];
    tsr_npy *npy = NULL;
    tsr_error error = {0};
    size_t size = compose(file, version, header, data, data_bytes);
    if (open_bytes(&npy, file, size, &error) != TSR_OK)
        fail_msg("%s: %s", header, error.message);
    return npy;
}

/* The message is compared without the path in front of it. */
static inline void expect_message(const tsr_error *error, tsr_status status, const char *path, const char *message)
{
    char expected[2 * TSR_ERROR_MESSAGE_SIZE];
    snprintf(expected, sizeof expected, "%s: %s", path, message);
    assert_string_equal(error->message, expected);
    assert_int_equal(error->status, status);
}

static inline void refuse_bytes(const void *bytes, size_t size, tsr_status status, const char *message)
{
    tsr_npy *npy = NULL;
    tsr_error error = {0};
    assert_int_equal(open_bytes(&npy, bytes, size, &error), status);
    assert_null(npy);
    expect_message(&error, status, path_of("a.npy"), message);
    assert_int_equal(tsr_npy_open(&npy, path_of("a.npy"), NULL), status);
}

static inline void refuse_header(const char *header, tsr_status status, const char *message)
{
    unsigned char file[FILE_BYTES];
    refuse_bytes(file, compose(file, 1, header, "12345678", 8), status, message);
}

static inline tsr_npy_writer *start(const char *path, tsr_dtype dtype, int rank, const int64_t *shape,
                                    bool fortran_order)
{
    tsr_npy_writer *writer = NULL;
    tsr_error error = {0};
    if (tsr_npy_writer_open(&writer, path, dtype, rank, shape, fortran_order, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return writer;
}

static inline void append(tsr_npy_writer *writer, const void *elements, int64_t count)
{
    assert_int_equal(tsr_npy_writer_append(writer, elements, count, NULL), TSR_OK);
}

static inline void finish(tsr_npy_writer *writer)
{
    tsr_error error = {0};
    if (tsr_npy_writer_finish(&writer, &error) != TSR_OK)
        fail_msg("%s", error.message);
    assert_null(writer);
}

/* A file of three bytes. */
static inline void save_bytes(const char *path, const char bytes[3])
{
    tsr_npy_writer *writer = start(path, TSR_U8, 1, (const int64_t[]){3}, false);
    append(writer, bytes, 3);
    finish(writer);
}

static inline void expect_bytes(const char *path, const char bytes[3])
{
    tsr_npy *npy = NULL;
    assert_int_equal(tsr_npy_open(&npy, path, NULL), TSR_OK);
    assert_int_equal(tsr_desc_size_bytes(tsr_npy_desc(npy)), 3);
    assert_memory_equal(tsr_npy_data(npy), bytes, 3);
    tsr_npy_close(&npy);
}

static inline int open_files(void)
{
    return count_entries("/proc/self/fd");
}

#define NPY_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

#endif
