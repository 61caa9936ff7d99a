/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "npy_files.h"

/* Where a file ends up: what is replaced, what is left alone, and what is no plain file. */

static void test_abort(void **state)
{
    (void)state;
    const char *path = path_of("a.npy");
    save_bytes(path, "old");
    tsr_npy_writer *writer = start(path, TSR_U8, 1, (const int64_t[]){3}, false);
    append(writer, "new", 3);
    assert_int_equal(count_entries(folder), 2);
    tsr_npy_writer_abort(&writer);
    assert_null(writer);
    assert_int_equal(count_entries(folder), 1);
    expect_bytes(path, "old");
    tsr_npy_writer_abort(&writer);
    tsr_npy_writer_abort(NULL);
    tsr_npy_close(NULL);
}

/* A folder takes the name while the file is written. */
static void test_name_taken(void **state)
{
    (void)state;
    tsr_error error = {0};
    const char *path = path_of("a.npy");
    tsr_npy_writer *writer = start(path, TSR_U8, 1, (const int64_t[]){3}, false);
    append(writer, "abc", 3);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(tsr_npy_writer_finish(&writer, &error), TSR_IO_ERROR);
    expect_message(&error, TSR_IO_ERROR, path, "cannot write: Is a directory");
    assert_null(writer);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(count_entries(folder), 0);
}

static void test_two_writers(void **state)
{
    (void)state;
    const char *path = path_of("a.npy");
    tsr_npy_writer *first = start(path, TSR_U8, 1, (const int64_t[]){3}, false);
    tsr_npy_writer *second = start(path, TSR_U8, 1, (const int64_t[]){3}, false);
    append(first, "one", 3);
    append(second, "two", 3);
    finish(second);
    expect_bytes(path, "two");
    finish(first);
    expect_bytes(path, "one");
    assert_int_equal(count_entries(folder), 1);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode;
}

static void test_mode(void **state)
{
    (void)state;
    const char *path = path_of("a.npy");
    mode_t mask = umask(0027);
    save_bytes(path, "new");
    assert_int_equal(mode_of(path) & 07777, 0640);
    assert_int_equal(chmod(path, 0666), 0);
    save_bytes(path, "new");
    umask(mask);
    assert_int_equal(mode_of(path) & 07777, 0666);
}

static void test_replace_mapped(void **state)
{
    (void)state;
    const char *path = path_of("a.npy");
    tsr_npy *npy = NULL;
    save_bytes(path, "old");
    assert_int_equal(tsr_npy_open(&npy, path, NULL), TSR_OK);
    tsr_npy_writer *writer = start(path, TSR_U8, 1, (const int64_t[]){3}, false);
    append(writer, tsr_npy_data(npy), 1);
    append(writer, "!!", 2);
    finish(writer);
    assert_memory_equal(tsr_npy_data(npy), "old", 3);
    tsr_npy_close(&npy);
    expect_bytes(path, "o!!");
}

static void test_symlinks(void **state)
{
    (void)state;
    const char *path = path_of("a.npy");
    const char *link = path_of("link.npy");
    assert_int_equal(symlink("a.npy", link), 0);
    save_bytes(link, "new"); /* to nothing, relative */
    assert_true(S_ISLNK(mode_of(link)));
    assert_true(S_ISREG(mode_of(path)));
    expect_bytes(path, "new");
    save_bytes(link, "ren");
    assert_true(S_ISLNK(mode_of(link)));
    expect_bytes(path, "ren");

    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(path, link), 0);
    save_bytes(link, "abs"); /* to nothing, absolute */
    assert_true(S_ISLNK(mode_of(link)));
    expect_bytes(path, "abs");
    assert_int_equal(count_entries(folder), 2);

    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("link.npy", link), 0);
    tsr_npy_writer *writer = NULL;
    assert_int_equal(tsr_npy_writer_open(&writer, link, TSR_U8, 0, NULL, false, NULL), TSR_IO_ERROR);
    assert_true(S_ISLNK(mode_of(link)));
}

static void test_relative_paths(void **state)
{
    (void)state;
    int here = open(".", O_RDONLY);
    assert_true(here >= 0);
    assert_int_equal(chdir(folder), 0);
    save_bytes("a.npy", "one");
    save_bytes("./b.npy", "two");
    assert_int_equal(fchdir(here), 0);
    close(here);
    expect_bytes(path_of("a.npy"), "one");
    expect_bytes(path_of("b.npy"), "two");
    assert_int_equal(count_entries(folder), 2);
}

/* Between open and finish the working folder may change. */
static void test_folder_changes(void **state)
{
    (void)state;
    int here = open(".", O_RDONLY);
    assert_true(here >= 0);
    assert_int_equal(chdir(folder), 0);
    tsr_npy_writer *writer = start("a.npy", TSR_U8, 1, (const int64_t[]){3}, false);
    assert_int_equal(fchdir(here), 0);
    close(here);
    append(writer, "abc", 3);
    finish(writer);
    expect_bytes(path_of("a.npy"), "abc");
}

static void test_devices(void **state)
{
    (void)state;
    tsr_error error = {0};
    save_bytes("/dev/null", "abc");
    assert_true(S_ISCHR(mode_of("/dev/null")));

    tsr_npy_writer *writer = start("/dev/full", TSR_U8, 1, (const int64_t[]){3}, false);
    append(writer, "abc", 3); /* still in the buffer */
    assert_int_equal(tsr_npy_writer_finish(&writer, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "/dev/full: cannot write: No space left on device");
    assert_null(writer);
    assert_true(S_ISCHR(mode_of("/dev/full")));
}

static void test_fifo(void **state)
{
    (void)state;
    unsigned char found[256];
    const char *path = path_of("pipe.npy");
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    save_bytes(path, "abc");
    assert_int_equal(read(reader, found, sizeof found), 131);
    close(reader);
    assert_memory_equal(found + 128, "abc", 3);
    assert_true(S_ISFIFO(mode_of(path)));
    assert_int_equal(count_entries(folder), 1);
}

/* Behind what is already there, which opening the file by its name would overwrite. */
static void test_stdout(void **state)
{
    (void)state;
    unsigned char found[256];
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    int file = open(path_of("stdout.npy"), O_RDWR | O_CREAT, 0600);
    dup2(file, STDOUT_FILENO);
    ssize_t written = write(STDOUT_FILENO, "text", 4);
    tsr_npy_writer *writer = NULL;
    tsr_status status = tsr_npy_writer_open(&writer, "/dev/stdout", TSR_U8, 1, (const int64_t[]){3}, false, NULL);
    if (status == TSR_OK)
        status = tsr_npy_writer_append(writer, "abc", 3, NULL);
    if (status == TSR_OK)
        status = tsr_npy_writer_finish(&writer, NULL);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    assert_int_equal(written, 4);
    assert_int_equal(status, TSR_OK);
    assert_int_equal(read_bytes(path_of("stdout.npy"), found, sizeof found), 135);
    assert_memory_equal(found, "text\x93NUMPY", 10);
    assert_memory_equal(found + 132, "abc", 3);
}

/* A limit on the size of files stands for a full disk. Once a write has failed, the file stays lost. */
static void test_full_disk(void **state)
{
    (void)state;
    static const char zeros[300000];
    tsr_error first = {0};
    tsr_error second = {0};
    tsr_error last = {0};
    struct rlimit old;
    const char *path = path_of("a.npy");
    save_bytes(path, "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {100000, old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    tsr_npy_writer *writer = NULL;
    tsr_status opened = tsr_npy_writer_open(&writer, path, TSR_U8, 1, (const int64_t[]){300001}, false, NULL);
    tsr_status written = opened == TSR_OK ? tsr_npy_writer_append(writer, zeros, 300000, &first) : opened;
    tsr_status again = opened == TSR_OK ? tsr_npy_writer_append(writer, zeros, 1, &second) : opened;
    tsr_status finished = opened == TSR_OK ? tsr_npy_writer_finish(&writer, &last) : opened;
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    assert_int_equal(opened, TSR_OK);
    assert_int_equal(written, TSR_IO_ERROR);
    assert_int_equal(again, TSR_IO_ERROR);
    assert_int_equal(finished, TSR_IO_ERROR);
    expect_message(&first, TSR_IO_ERROR, path, "cannot write: File too large");
    assert_string_equal(second.message, first.message);
    assert_string_equal(last.message, first.message);
    assert_null(writer);
    assert_int_equal(count_entries(folder), 1);
    expect_bytes(path, "old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NPY_TEST(test_abort),          NPY_TEST(test_name_taken),     NPY_TEST(test_two_writers),
        NPY_TEST(test_mode),           NPY_TEST(test_replace_mapped), NPY_TEST(test_symlinks),
        NPY_TEST(test_relative_paths), NPY_TEST(test_folder_changes), NPY_TEST(test_devices),
        NPY_TEST(test_fifo),           NPY_TEST(test_stdout),         NPY_TEST(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
