/* hash.h - SHA-256 and HMAC-SHA256 (FIPS 180-4, RFC 2104) by libsodium. */
#ifndef HC_BASE_HASH_H
#define HC_BASE_HASH_H

#include <sodium/crypto_hash_sha256.h>
#include <stdbool.h>
#include <stddef.h>

#define HC_SHA256_HEX 65 /* 64 lower-case hex digits and a NUL */

/* A running hash; feed it with crypto_hash_sha256_update. */
struct hc_hash {
    crypto_hash_sha256_state state; /* libsodium's */
};

void hc_hash_init(struct hc_hash *h);                              /* begins a hash */
void hc_hash_add(struct hc_hash *h, const void *data, size_t len); /* hashes `len` more bytes */
void hc_hash_hex(struct hc_hash *h, char out[HC_SHA256_HEX]);      /* ends the hash */

/* Hash `len` bytes into `out`. */
void hc_sha256_hex(const void *data, size_t len, char out[HC_SHA256_HEX]);

/* Whether the `len` bytes at `text`, which need no NUL, are the 64 lower-case digits of a SHA-256. It is
 * inline for the shim, which asks it, and for which the tree has no libsodium. */
static inline bool hc_is_sha256_hex(const char *text, size_t len)
{
    size_t digits = 0;
    while (digits < len &&
           ((text[digits] >= '0' && text[digits] <= '9') || (text[digits] >= 'a' && text[digits] <= 'f')))
        digits++;
    return len == HC_SHA256_HEX - 1 && digits == len;
}

/* Compute the HMAC-SHA256 of `len` bytes with a key of any length into `out`. */
void hc_hmac_hex(const void *key, size_t key_len, const void *data, size_t len, char out[HC_SHA256_HEX]);

/* Constant-time comparison of two hex digests: 1 if both are whole and equal, else 0. */
int hc_digest_equal(const char *a, const char *b);

#endif
