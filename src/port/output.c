/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "port/message.h"
#include "port/output.h"
#include "port/path.h"

#define BUFFER_BYTES ((size_t)1 << 16)
#define NAME_ATTEMPTS 100

struct tsr_output {
    char *path;
    char *target; /* both NULL when the file is written directly */
    char *temporary;
    int file;
    bool open;
    int failure; /* the errno of the write that failed */
    size_t buffered_bytes;
    unsigned char buffer[BUFFER_BYTES];
};

static int open_retrying(const char *path, int flags, mode_t mode)
{
    int file;
    do
        file = open(path, flags | O_WRONLY | O_CLOEXEC | O_NOCTTY, mode);
    while (file < 0 && errno == EINTR);
    return file;
}

/* O_EXCL makes the name ours; it has only to be unlikely to be taken. */
static int open_temporary(tsr_output *output, mode_t mode)
{
    static atomic_uint serial;
    for (int i = 0; i < NAME_ATTEMPTS; i++) {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        char name[64];
        snprintf(name, sizeof name, ".tessera-%lx-%lx-%x.tmp", (unsigned long)getpid(), (unsigned long)now.tv_nsec,
                 atomic_fetch_add(&serial, 1));
        char *temporary = tsr_path_beside(output->target, name);
        if (!temporary)
            return -1;
        int file = open_retrying(temporary, O_CREAT | O_EXCL, mode);
        if (file >= 0) {
            output->temporary = temporary;
            return file;
        }
        int number = errno;
        free(temporary);
        errno = number;
        if (number != EEXIST)
            return -1;
    }
    return -1;
}

/* Sets file, and target and temporary unless it is written directly. 0 or an errno. */
static int open_file(tsr_output *output)
{
    /* opened again by its name, it would lose its position */
    bool standard = strcmp(output->path, "/dev/stdout") == 0;
    int file = standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open_retrying(output->path, 0, 0);
    struct stat old = {.st_mode = 0666};
    if (file >= 0) {
        output->file = file;
        output->open = true;
        if (fstat(file, &old))
            return errno;
        if (standard || !S_ISREG(old.st_mode))
            return 0;
        close(file);
        output->open = false;
    } else if (errno != ENOENT) {
        return errno;
    }

    output->target = tsr_path_resolve(output->path);
    if (!output->target)
        return errno;
    output->file = open_temporary(output, old.st_mode & 0777);
    output->open = output->file >= 0;
    if (!output->open)
        return errno;
    return file >= 0 && fchmod(output->file, old.st_mode & 0777) ? errno : 0;
}

tsr_status tsr_output_open(tsr_output **output, const char *path, tsr_error *error)
{
    tsr_status status;
    tsr_output *opened = tsr_allocate_zeroed(tsr_default_allocator(), 1, sizeof *opened);
    if (!opened)
        return tsr_fail_memory(error, path, sizeof *opened);
    opened->path = strdup(path);
    if (!opened->path) {
        status = tsr_fail_memory(error, path, strlen(path));
        goto fail;
    }
    int number = open_file(opened);
    if (number) {
        status = tsr_fail_system(error, path, "write", number);
        goto fail;
    }
    *output = opened;
    return TSR_OK;

fail:
    tsr_output_abort(&opened);
    return status;
}

const char *tsr_output_path(const tsr_output *output)
{
    return output->path;
}

static void write_all(tsr_output *output, const unsigned char *bytes, size_t size_bytes)
{
    while (size_bytes && !output->failure) {
        ssize_t count = write(output->file, bytes, size_bytes);
        if (count > 0) {
            bytes += count;
            size_bytes -= (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            output->failure = count == 0 ? EIO : errno;
        }
    }
}

static void flush(tsr_output *output)
{
    write_all(output, output->buffer, output->buffered_bytes);
    output->buffered_bytes = 0;
}

tsr_status tsr_output_write(tsr_output *output, const void *bytes, size_t size_bytes, tsr_error *error)
{
    if (size_bytes > BUFFER_BYTES - output->buffered_bytes)
        flush(output);
    if (size_bytes >= BUFFER_BYTES) {
        write_all(output, bytes, size_bytes);
    } else if (size_bytes) {
        memcpy(output->buffer + output->buffered_bytes, bytes, size_bytes);
        output->buffered_bytes += size_bytes;
    }
    return output->failure ? tsr_fail_system(error, output->path, "write", output->failure) : TSR_OK;
}

static int close_file(tsr_output *output)
{
    output->open = false;
    /* interrupted or not, the file is closed */
    return close(output->file) && errno != EINTR ? errno : 0;
}

tsr_status tsr_output_finish(tsr_output **output, tsr_error *error)
{
    tsr_output *finished = *output;
    tsr_status status = TSR_OK;
    flush(finished);
    if (!finished->failure)
        finished->failure = close_file(finished);
    if (!finished->failure && finished->temporary) {
        if (rename(finished->temporary, finished->target)) {
            finished->failure = errno;
        } else {
            free(finished->temporary);
            finished->temporary = NULL;
        }
    }
    if (finished->failure)
        status = tsr_fail_system(error, finished->path, "write", finished->failure);
    tsr_output_abort(output);
    return status;
}

void tsr_output_abort(tsr_output **output)
{
    tsr_output *aborted = output ? *output : NULL;
    if (!aborted)
        return;
    if (aborted->open)
        close(aborted->file);
    if (aborted->temporary)
        unlink(aborted->temporary);
    free(aborted->temporary);
    free(aborted->target);
    free(aborted->path);
    tsr_deallocate(tsr_default_allocator(), aborted, sizeof *aborted);
    *output = NULL;
}
