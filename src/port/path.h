/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_PORT_PATH_H
#define TESSERA_SRC_PORT_PATH_H

/* Both return a string to free, or NULL and errno. */

/* The file that path names, itself behind all symbolic links. It need not exist, but its folder must. */
char *tsr_path_resolve(const char *path);

/* A file of that name in the folder of path. An absolute name is returned as it is. */
char *tsr_path_beside(const char *path, const char *name);

#endif
