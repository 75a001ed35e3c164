/* seal.h - a user's seals on data that hotcell writes where other users may write, too: later it believes
 * such data only if the seal fits.
 *
 * A seal is an HMAC with a key that only this user can read, in the file changes.key of the user's state
 * directory; no cell gets that directory. */
#ifndef HC_CELL_SEAL_H
#define HC_CELL_SEAL_H

#include "base/error.h"
#include "base/hash.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* What a seal is for; all borrowed. */
struct hc_sealed {
    const char *what;      /* a word for the purpose of the seal, which is valid for no other purpose */
    const char *path;      /* path of the directory, raw bytes; "": the path is not sealed */
    const struct stat *st; /* lstat(2) of the directory: its device and inode are sealed */
    const char *sha256;    /* SHA-256 of the sealed list, in hex; "": no list is sealed */
};

/* The directory in which the key is, or will be: $HOTCELL_STATE if it belongs to this user or is not there
 * yet, else the user's own state directory. -1: the user has none. */
int hc_seal_dir(char out[PATH_MAX], struct hc_error *err);

/* Compute the seal of `of`. A user's first call makes the key. */
int hc_seal(const struct hc_sealed *of, char seal[HC_SHA256_HEX], struct hc_error *err);

/* Is `seal` this user's seal of `of`? Also false if there is no key. */
bool hc_seal_holds(const struct hc_sealed *of, const char *seal);

#endif
