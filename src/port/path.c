/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "port/path.h"

#define LINKS_MAX 40

static char *join(const char *folder, size_t folder_bytes, const char *name)
{
    size_t name_bytes = strlen(name) + 1;
    char *joined = malloc(folder_bytes + 1 + name_bytes);
    if (joined) {
        memcpy(joined, folder, folder_bytes);
        joined[folder_bytes] = '/';
        memcpy(joined + folder_bytes + 1, name, name_bytes);
    }
    return joined;
}

char *tsr_path_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return slash && name[0] != '/' ? join(path, (size_t)(slash - path), name) : strdup(name);
}

/* path names nothing and is no link: its last name is new, and its folder must be there. */
static char *resolve_new(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (!*name) {
        errno = *path ? EISDIR : ENOENT;
        return NULL;
    }
    char *inside = tsr_path_beside(path, ".");
    char *folder = inside ? realpath(inside, NULL) : NULL;
    char *resolved = folder ? join(folder, folder[1] ? strlen(folder) : 0, name) : NULL;
    free(folder);
    free(inside);
    return resolved;
}

/* realpath does not follow a link to a file that does not exist yet. */
static char *resolve(const char *path, int links)
{
    char *real = realpath(path, NULL);
    if (real || errno != ENOENT)
        return real;

    char link[PATH_MAX];
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length < 0)
        return resolve_new(path);
    if (links == 0) {
        errno = ELOOP;
        return NULL;
    }
    link[length] = '\0';
    char *next = tsr_path_beside(path, link);
    char *resolved = next ? resolve(next, links - 1) : NULL;
    free(next);
    return resolved;
}

char *tsr_path_resolve(const char *path)
{
    return resolve(path, LINKS_MAX);
}
