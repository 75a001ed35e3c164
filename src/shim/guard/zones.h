/* zones.h - where files may be read and written (files.*), and which file a path really means. */
#ifndef HC_SHIM_GUARD_ZONES_H
#define HC_SHIM_GUARD_ZONES_H

#include "shim/guard/rules.h"

/* Resolve `path` as the kernel would for a file that may yet have to be made: links in its directory, and
 * with `follow` a link that it is itself, even one to nothing. `out` has room for PATH_MAX. -1 if its
 * directory cannot be resolved either. */
int hc_path_resolve(const char *path, bool follow, char *out);

/* What comes nearest to that for a path in a directory that is not there: the part that is, resolved, and the
 * rest as it stands. */
void hc_path_guess(const char *path, char *out);

/* Is a resolved path one of the zones or below one? A zone "." is the working directory, "~" is $HOME. */
bool hc_zones_have(const struct hc_names *zones, const char *resolved);

/* Is the directory that is open as `fd` on the file system of a zone? Its name cannot be learnt. */
bool hc_zones_have_dir(const struct hc_names *zones, int fd);

#endif
