/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "port/input.h"
#include "port/message.h"

#define FIRST_CAPACITY ((size_t)1 << 16)

static int open_retrying(const char *path)
{
    int file;
    do
        file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (file < 0 && errno == EINTR);
    return file;
}

/* An empty regular file is not mapped but read: those under /proc have a size of 0 and contents. */
static void try_to_map(tsr_input *input, const struct stat *status)
{
    if (!S_ISREG(status->st_mode) || status->st_size <= 0 || (off_t)(size_t)status->st_size != status->st_size)
        return;
    size_t size_bytes = (size_t)status->st_size;
    void *mapping = mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE, input->file, 0);
    if (mapping == MAP_FAILED)
        return;
    input->bytes = mapping;
    input->size_bytes = size_bytes;
    tsr_input_stop(input);
}

tsr_status tsr_input_open(tsr_input *input, const char *path, tsr_error *error)
{
    tsr_input opened = {.file = open_retrying(path)};
    if (opened.file < 0)
        return tsr_fail_system(error, path, "open", errno);
    opened.reading = true;
    struct stat status;
    int number = fstat(opened.file, &status) ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
    if (number) {
        tsr_input_close(&opened);
        return tsr_fail_system(error, path, "read", number);
    }
    try_to_map(&opened, &status);
    *input = opened;
    return TSR_OK;
}

static bool grow(tsr_input *input, size_t limit_bytes)
{
    size_t capacity = FIRST_CAPACITY;
    if (input->capacity_bytes && __builtin_mul_overflow(input->capacity_bytes, (size_t)2, &capacity))
        return false;
    if (input->capacity_bytes && capacity > limit_bytes)
        capacity = limit_bytes;
    void *memory = tsr_allocate(tsr_default_allocator(), capacity);
    if (!memory)
        return false;
    if (input->size_bytes)
        memcpy(memory, input->bytes, input->size_bytes);
    tsr_deallocate(tsr_default_allocator(), input->bytes, input->capacity_bytes);
    input->bytes = memory;
    input->capacity_bytes = capacity;
    return true;
}

tsr_status tsr_input_fill(tsr_input *input, size_t size_bytes, const char *path, tsr_error *error)
{
    while (input->reading && input->size_bytes < size_bytes) {
        if (input->size_bytes == input->capacity_bytes && !grow(input, size_bytes))
            return tsr_fail_memory(error, path, size_bytes);
        ssize_t count = read(input->file, input->bytes + input->size_bytes, input->capacity_bytes - input->size_bytes);
        if (count > 0)
            input->size_bytes += (size_t)count;
        else if (count == 0)
            tsr_input_stop(input);
        else if (errno != EINTR)
            return tsr_fail_system(error, path, "read", errno);
    }
    return TSR_OK;
}

void tsr_input_stop(tsr_input *input)
{
    if (input->reading)
        close(input->file);
    input->reading = false;
}

void tsr_input_close(tsr_input *input)
{
    tsr_input_stop(input);
    if (input->capacity_bytes)
        tsr_deallocate(tsr_default_allocator(), input->bytes, input->capacity_bytes);
    else if (input->bytes)
        munmap(input->bytes, input->size_bytes);
    *input = (tsr_input){0};
}
