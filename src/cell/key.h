/* key.h - the file that holds the key for manifests. */
#ifndef HC_CELL_KEY_H
#define HC_CELL_KEY_H

#include "base/buf.h"
#include "base/error.h"

/* Read a key of 16 to 4096 bytes. Whoever can read the key can forge manifests, so a file that others can
 * read is refused (HC_EXIT_CONFIG). */
int hc_key_read(const char *path, struct hc_buf *key, struct hc_error *err);

#endif
