/* paths.h - which file a path really means. */
#ifndef HC_SHIM_HARNESS_PATHS_H
#define HC_SHIM_HARNESS_PATHS_H

#include <stdbool.h>

/* Resolve `path` as the kernel would for a file that may yet have to be made: links in its directory, and
 * with `follow` a link that it is itself, even one to nothing. `out` has room for PATH_MAX. -1 if its
 * directory cannot be resolved either. */
int hc_path_resolve(const char *path, bool follow, char *out);

/* The same for paths that can be told from their text, without asking the kernel: in a cell's own places,
 * while nobody has made a link there. -1 for all others. The file, or its directory, may not be there. */
int hc_path_by_text(const char *path, char *out);

/* There may be links in the cell's own places from now on. */
void hc_path_expect_links(void);

/* What comes nearest to that for a path in a directory that is not there: the part that is, resolved, and the
 * rest as it stands. */
void hc_path_guess(const char *path, char *out);

/* The path of the directory that is open as `fd`, "" for the root. -1 if it cannot be found, as where a
 * directory above it may not be read. */
int hc_path_of_dir(int fd, char *out);

/* Is a resolved path this directory or below it, by their texts? The second follows links in `dir`. */
bool hc_path_is_below(const char *resolved, const char *dir);
bool hc_path_is_in(const char *resolved, const char *dir);

#endif
