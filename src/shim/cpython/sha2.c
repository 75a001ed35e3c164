/* Debian's libpython3.13.a has the module _sha2, which "import random" takes SHA-512 from, but not the HACL*
 * functions that the module calls. Here they are, over libsodium. Linked from an archive behind libpython's,
 * and so left out where libpython has its own. */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef crypto_hash_sha256_state state_256; /* of SHA-224, too: the two differ in the start value */
typedef crypto_hash_sha512_state state_512; /* of SHA-384, too */

#define HACL(name) python_hashlib_Hacl_Hash_SHA2_##name

state_256 *HACL(malloc_224)(void);
state_256 *HACL(malloc_256)(void);
state_512 *HACL(malloc_384)(void);
state_512 *HACL(malloc_512)(void);
state_256 *HACL(copy_256)(const state_256 *s);
state_512 *HACL(copy_512)(const state_512 *s);
void HACL(free_256)(state_256 *s);
void HACL(free_512)(state_512 *s);
uint8_t HACL(update_256)(state_256 *s, const uint8_t *data, uint32_t len); /* 0: done */
uint8_t HACL(update_512)(state_512 *s, const uint8_t *data, uint32_t len);
void HACL(digest_256)(const state_256 *s, uint8_t *out); /* 32 bytes; of SHA-224 the first 28 count */
void HACL(digest_512)(const state_512 *s, uint8_t *out); /* 64 bytes; of SHA-384 the first 48 count */

state_256 *HACL(malloc_256)(void)
{
    state_256 *s = malloc(sizeof *s);
    if (s)
        (void)crypto_hash_sha256_init(s);
    return s;
}

state_512 *HACL(malloc_512)(void)
{
    state_512 *s = malloc(sizeof *s);
    if (s)
        (void)crypto_hash_sha512_init(s);
    return s;
}

/* The start values are those of FIPS 180-4, sections 5.3.2 and 5.3.4. */
state_256 *HACL(malloc_224)(void)
{
    static const uint32_t start[8] = {0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939,
                                      0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4};
    state_256 *s = HACL(malloc_256)();
    if (s)
        memcpy(s->state, start, sizeof start);
    return s;
}

state_512 *HACL(malloc_384)(void)
{
    static const uint64_t start[8] = {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17,
                                      0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511,
                                      0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};
    state_512 *s = HACL(malloc_512)();
    if (s)
        memcpy(s->state, start, sizeof start);
    return s;
}

state_256 *HACL(copy_256)(const state_256 *s)
{
    state_256 *copy = malloc(sizeof *copy);
    return copy ? memcpy(copy, s, sizeof *s) : NULL;
}

state_512 *HACL(copy_512)(const state_512 *s)
{
    state_512 *copy = malloc(sizeof *copy);
    return copy ? memcpy(copy, s, sizeof *s) : NULL;
}

void HACL(free_256)(state_256 *s)
{
    free(s);
}

void HACL(free_512)(state_512 *s)
{
    free(s);
}

uint8_t HACL(update_256)(state_256 *s, const uint8_t *data, uint32_t len)
{
    return (uint8_t)crypto_hash_sha256_update(s, data, len);
}

uint8_t HACL(update_512)(state_512 *s, const uint8_t *data, uint32_t len)
{
    return (uint8_t)crypto_hash_sha512_update(s, data, len);
}

void HACL(digest_256)(const state_256 *s, uint8_t *out)
{
    state_256 copy = *s; /* the state goes on after a digest */
    (void)crypto_hash_sha256_final(&copy, out);
}

void HACL(digest_512)(const state_512 *s, uint8_t *out)
{
    state_512 copy = *s;
    (void)crypto_hash_sha512_final(&copy, out);
}
