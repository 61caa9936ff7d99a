/* SPDX-License-Identifier: Apache-2.0 */
/* Where wisdom is read from; port/wisdom.c writes it. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/writer.h"
#include "reorder/wisdom.h"

/* NULL when the file is empty. A byte of zero ends a text, so that no device can feed us for ever. */
static tsr_status read_text(char **text, const char *path, tsr_error *error)
{
    FILE *file = fopen(path, "re");
    size_t size = 0;
    if (!file)
        return tsr_fail(error, TSR_IO_ERROR, "%.120s: cannot open: %s", path, strerror(errno));
    errno = 0;
    ssize_t length = getdelim(text, &size, '\0', file); /* -1 at the end of a file, too, and then no text */
    tsr_status status = TSR_OK;
    if (length > 0 && (*text)[length - 1] == '\0')
        status =
            tsr_fail(error, TSR_PARSE_ERROR, "%.120s: expected a text, found a byte of zero at %zd", path, length - 1);
    else if (length < 0 && errno != 0)
        status = tsr_fail(error, TSR_IO_ERROR, "%.120s: cannot read: %s", path, strerror(errno));
    fclose(file);
    if (length < 0) {
        free(*text);
        *text = NULL;
    }
    return status;
}

tsr_status tsr_wisdom_read(tsr_wisdom **wisdom, const char *path, tsr_error *error)
{
    tsr_error inner = {0};
    char *text = NULL;
    tsr_status status = read_text(&text, path, error);
    if (status == TSR_OK) {
        status = tsr_wisdom_parse(wisdom, text ? text : "", &inner);
        if (status != TSR_OK)
            status = tsr_fail(error, status, "%.60s: %.190s", path, inner.message);
    }
    free(text);
    return status;
}

int tsr_wisdom_path(char *path, size_t size)
{
    const char *named = getenv("TSR_WISDOM"), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    tsr_writer out = {path, size, 0};
    if (named)
        tsr_write(&out, "%s", named);
    else if (config && *config)
        tsr_write(&out, "%s/tessera/wisdom", config);
    else if (home && *home)
        tsr_write(&out, "%s/.config/tessera/wisdom", home);
    else
        tsr_write(&out, "%s", "");
    return (int)out.length;
}

static tsr_wisdom *found;
static tsr_error why_not;

static void read_default(void)
{
    char path[4096];
    int length = tsr_wisdom_path(path, sizeof path);
    if (length > 0 && length < (int)sizeof path && access(path, F_OK) == 0)
        (void)!tsr_wisdom_read(&found, path, &why_not);
}

tsr_status tsr_default_wisdom(const tsr_wisdom **wisdom, tsr_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_default);
    *wisdom = found;
    return why_not.status == TSR_OK ? TSR_OK : tsr_fail(error, why_not.status, "%s", why_not.message);
}
