/* SPDX-License-Identifier: Apache-2.0 */
/* Gives every file of a folder to a fuzz target, where there is no fuzzer: replay FOLDER. */
#include <dirent.h>

#include "target.h"

static int replay(const char *path)
{
    uint8_t *data = NULL;
    long size = -1;
    FILE *file = fopen(path, "rb");
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0)
        data = malloc((size_t)size + 1);
    if (!data || fseek(file, 0, SEEK_SET) != 0 || fread(data, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(EXIT_FAILURE);
    }
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    fclose(file);
    return 1;
}

int main(int argc, char **argv)
{
    int files = 0;
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        files += replay(path);
    }
    if (folder)
        closedir(folder);
    printf("%d inputs\n", files);
    return files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
