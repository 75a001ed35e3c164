/* key.h - read the key that signs manifests from its file. */
#ifndef HC_CELL_KEY_H
#define HC_CELL_KEY_H

#include "base/buf.h"
#include "base/error.h"

/* Append the key in the file `path`, 16 to 4096 bytes, to `key`. A user who can read the key can forge
 * manifests, so a file that other users can read is refused (HC_EXIT_CONFIG). */
int hc_key_read(const char *path, struct hc_buf *key, struct hc_error *err);

#endif
