#include "base/hash.h"

#include <sodium/crypto_auth_hmacsha256.h>
#include <sodium/utils.h>
#include <string.h>

void hc_hash_init(struct hc_hash *h)
{
    (void)crypto_hash_sha256_init(&h->state);
}

void hc_hash_add(struct hc_hash *h, const void *data, size_t len)
{
    (void)crypto_hash_sha256_update(&h->state, data, len);
}

void hc_hash_hex(struct hc_hash *h, char out[HC_SHA256_HEX])
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256_final(&h->state, digest);
    (void)sodium_bin2hex(out, HC_SHA256_HEX, digest, sizeof digest);
}

void hc_sha256_hex(const void *data, size_t len, char out[HC_SHA256_HEX])
{
    struct hc_hash h;
    hc_hash_init(&h);
    hc_hash_add(&h, data, len);
    hc_hash_hex(&h, out);
}

void hc_hmac_hex(const void *key, size_t key_len, const void *data, size_t len, char out[HC_SHA256_HEX])
{
    crypto_auth_hmacsha256_state state;
    unsigned char digest[crypto_auth_hmacsha256_BYTES];
    (void)crypto_auth_hmacsha256_init(&state, key, key_len);
    (void)crypto_auth_hmacsha256_update(&state, data, len);
    (void)crypto_auth_hmacsha256_final(&state, digest);
    (void)sodium_bin2hex(out, HC_SHA256_HEX, digest, sizeof digest);
    sodium_memzero(&state, sizeof state);
}

int hc_digest_equal(const char *a, const char *b)
{
    return strlen(a) == HC_SHA256_HEX - 1 && strlen(b) == HC_SHA256_HEX - 1 &&
           sodium_memcmp(a, b, HC_SHA256_HEX - 1) == 0;
}
