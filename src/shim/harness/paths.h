/* paths.h - resolves paths: finds the file that a path leads to. */
#ifndef HC_SHIM_HARNESS_PATHS_H
#define HC_SHIM_HARNESS_PATHS_H

#include <stdbool.h>

/* Functions with `out` write a path into it; it has room for PATH_MAX bytes. */

/* Resolves `path` as the kernel would for a file that need not exist: links in its directory and, with
 * `follow`, a link at its end, even one without a target. -1: its directory cannot be resolved either. */
int hc_path_resolve(const char *path, bool follow, char *out);

/* Resolves a path by its text alone, without system calls: one below /output or /tmp, as long as no link was
 * made there. The file and its directory need not exist. -1: any other path. */
int hc_path_by_text(const char *path, char *out);

/* Says that there may be links below /output and /tmp from now on. */
void hc_path_expect_links(void);

/* Resolves a path in a directory that does not exist: the part that exists is resolved, the rest appended. */
void hc_path_guess(const char *path, char *out);

/* Finds the path of the directory that is open as `fd`; "" for the root. -1: it cannot be found, for instance
 * because a directory above it cannot be read. */
int hc_path_of_dir(int fd, char *out);

/* Is a resolved path this directory or below it, by their texts alone? */
bool hc_path_is_below(const char *resolved, const char *dir);

/* Is a resolved path the directory `dir` or below it, once the links in `dir` are resolved? */
bool hc_path_is_in(const char *resolved, const char *dir);

#endif
