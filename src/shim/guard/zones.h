/* zones.h - decides whether a path is in a zone: a directory in which the policy ("files") lets files be read
 * or written. */
#ifndef HC_SHIM_GUARD_ZONES_H
#define HC_SHIM_GUARD_ZONES_H

#include "shim/guard/rules.h"

/* Is a resolved path one of the zones or below one? A zone "." is the working directory, "~" is $HOME. */
bool hc_zones_have(const struct hc_names *zones, const char *resolved);

/* Is the directory that is open as `fd` on the file system of a zone? This is quicker than finding its path.
 */
bool hc_zones_have_dir(const struct hc_names *zones, int fd);

#endif
