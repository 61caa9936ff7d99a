/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/device.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Those that are known by name, each with a reference. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tsr_device *known;

static tsr_device host = {.name = "host"};

static void fill_in_host(void)
{
    host.does = tsr_host_functions;
}

tsr_device *tsr_device_host(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_in_host);
    return &host;
}

tsr_device *tsr_device_share(tsr_device *device)
{
    if (device && device != &host)
        tsr_ref_take(&device->ref);
    return device;
}

void tsr_device_release(tsr_device **device)
{
    tsr_device *old = device ? *device : NULL;
    if (!old)
        return;
    *device = NULL;
    if (old == &host || !tsr_ref_drop(&old->ref))
        return;
    if (old->does.destroy)
        old->does.destroy(old->context);
    tsr_deallocate(tsr_default_allocator(), old, sizeof *old);
}

const char *tsr_device_name(const tsr_device *device)
{
    return device->name;
}

tsr_status tsr_device_synchronise(tsr_device *device, tsr_error *error)
{
    return device->does.synchronise ? device->does.synchronise(device->context, error) : TSR_OK;
}

/* ---- names ---- */

/* Where the device of this name is linked, or the end of the list. */
static tsr_device **find(const char *name)
{
    tsr_device **at = &known;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

/* The functions that may not be NULL are there. */
static bool is_complete(const tsr_device_functions *does)
{
    return does->allocate && does->release && does->copy_in && does->copy_out && does->copy_within && does->fill &&
           does->map && does->unmap;
}

static tsr_status check_name(const char *name, tsr_error *error)
{
    size_t length = name ? strlen(name) : 0;
    if (length == 0 || length >= TSR_DEVICE_NAME_SIZE)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a name of 1 to %d bytes for a device, found %zu",
                        TSR_DEVICE_NAME_SIZE - 1, length);
    return TSR_OK;
}

tsr_status tsr_device_register(const char *name, const tsr_device_functions *functions, void *context, tsr_error *error)
{
    tsr_status status = check_name(name, error);
    if (status != TSR_OK)
        return status;
    tsr_device *made = tsr_allocate_zeroed(tsr_default_allocator(), 1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a device");
    tsr_ref_init(&made->ref);
    if (functions)
        memcpy(&made->does, functions, functions->size < sizeof made->does ? functions->size : sizeof made->does);
    made->context = context;
    strcpy(made->name, name);
    pthread_mutex_lock(&lock);
    tsr_device **at = find(name);
    if (*at || strcmp(name, host.name) == 0)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "there is a device \"%s\" already", name);
    else if (!is_complete(&made->does))
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "device \"%s\" lacks a function that every device has", name);
    else
        *at = made;
    pthread_mutex_unlock(&lock);
    if (status != TSR_OK)
        tsr_deallocate(tsr_default_allocator(), made, sizeof *made);
    return status;
}

/* Writes down all names for a message. */
static void list_names(char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "\"%s\"", host.name);
    for (const tsr_device *device = known; device && length < size; device = device->next)
        length += (size_t)snprintf(text + length, size - length, ", \"%s\"", device->name);
}

static tsr_status fail_unknown(tsr_error *error, tsr_status status, const char *name)
{
    char names[160];
    list_names(names, sizeof names);
    return tsr_fail(error, status, "there is no device \"%.31s\"; there are %s", name ? name : "", names);
}

tsr_status tsr_device_unregister(const char *name, tsr_error *error)
{
    pthread_mutex_lock(&lock);
    tsr_device **at = name ? find(name) : NULL, *old = at ? *at : NULL;
    if (old)
        *at = old->next;
    tsr_status status = old ? TSR_OK : fail_unknown(error, TSR_INVALID_ARGUMENT, name);
    pthread_mutex_unlock(&lock);
    tsr_device_release(&old);
    return status;
}

tsr_status tsr_device_find(const char *name, tsr_device **device, tsr_error *error)
{
    if (name && strcmp(name, host.name) == 0) {
        *device = tsr_device_host();
        return TSR_OK;
    }
    if (name && strncmp(name, "opencl", strlen("opencl")) == 0)
        tsr_register_opencl(); /* its drivers are loaded for whoever asks, and for nobody else */
    pthread_mutex_lock(&lock);
    tsr_device *found = name ? tsr_device_share(*find(name)) : NULL;
    tsr_status status = found ? TSR_OK : fail_unknown(error, TSR_UNSUPPORTED, name);
    pthread_mutex_unlock(&lock);
    if (found)
        *device = found;
    return status;
}
