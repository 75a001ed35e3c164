#include "shim/guard/zones.h"

#include "shim/harness/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory that a zone names now: "." is the working directory, "~" is $HOME. NULL: there is none. */
static const char *zone_path(const char *zone, char *buffer)
{
    if (strcmp(zone, ".") == 0)
        return getcwd(buffer, PATH_MAX);
    if (zone[0] == '~' && (zone[1] == '/' || zone[1] == '\0')) {
        const char *home = getenv("HOME");
        return home && snprintf(buffer, PATH_MAX, "%s%s", home, zone + 1) < PATH_MAX ? buffer : NULL;
    }
    return zone;
}

/* Is the path in one of the zones by the zones' names alone, without a system call? */
static bool is_below_named(const struct hc_names *zones, const char *resolved)
{
    for (size_t i = 0; i < zones->count; i++)
        if (zones->items[i][0] == '/' && hc_path_is_below(resolved, zones->items[i]))
            return true;
    return false;
}

bool hc_zones_have(const struct hc_names *zones, const char *resolved)
{
    if (is_below_named(zones, resolved))
        return true;
    for (size_t i = 0; i < zones->count; i++) {
        char named[PATH_MAX];
        const char *zone = zone_path(zones->items[i], named);
        if (zone && hc_path_is_in(resolved, zone))
            return true;
    }
    return false;
}

bool hc_zones_have_dir(const struct hc_names *zones, int fd)
{
    struct stat dir, zone_dir;
    if (fstat(fd, &dir) < 0)
        return false;
    for (size_t i = 0; i < zones->count; i++) {
        char named[PATH_MAX];
        const char *zone = zone_path(zones->items[i], named);
        if (zone && stat(zone, &zone_dir) == 0 && zone_dir.st_dev == dir.st_dev)
            return true;
    }
    return false;
}
