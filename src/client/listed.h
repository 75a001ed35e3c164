/* listed.h - the paths of files as a manifest lists them: they come from a guest. */
#ifndef HC_CLIENT_LISTED_H
#define HC_CLIENT_LISTED_H

#include "base/buf.h"

/* Undoes a manifest's escapes of a path: \xHH for a byte, \\ for a backslash. -1: the path does not fit into
 * `size` bytes, or has a NUL. */
int hc_listed_unescape(const char *text, char *out, size_t size);

/* Is `path` relative, without empty parts, "." and ".."? Symbolic links are left to the kernel to refuse. */
bool hc_listed_lies_below(const char *path);

/* Appends the path as a part of a URL, percent-encoded. */
void hc_listed_encode(struct hc_buf *out, const char *path);

#endif
