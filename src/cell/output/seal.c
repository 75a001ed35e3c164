#include "cell/seal.h"

#include "base/fd.h"
#include "base/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define KEY_NAME "changes.key"
#define KEY_SIZE 32 /* bytes */

/* Nobody else can put files into the directory. */
static bool is_own(const struct stat *st)
{
    return S_ISDIR(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & 022);
}

int hc_seal_dir(char out[PATH_MAX], struct hc_error *err)
{
    struct stat st;
    if (hc_state_dir(out, err) == 0 && (stat(out, &st) < 0 ? errno == ENOENT : is_own(&st)))
        return 0;
    return hc_state_default_dir(out, err);
}

/* Open the directory of the key; `make`: it is made if it is missing. */
static int open_dir(bool make, struct hc_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    if (hc_seal_dir(path, err) < 0 || (make && hc_make_dirs(path, 0755, err) < 0))
        return -1;
    hc_autofd dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || fstat(dir, &st) < 0)
        return hc_fail(err, errno, "%s", path);
    return is_own(&st) ? hc_take(&dir)
                       : hc_fail(err, 0, "%s belongs to another user, or others may write to it", path);
}

/* 0: read. -1: no such file (err->sys is ENOENT), or one that is not of this user alone. */
static int read_key(int dir, unsigned char key[KEY_SIZE], struct hc_error *err)
{
    struct stat st;
    hc_autofd fd = openat(dir, KEY_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return hc_fail(err, errno, KEY_NAME);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) || st.st_size != KEY_SIZE ||
        read(fd, key, KEY_SIZE) != KEY_SIZE)
        return hc_fail(err, 0, KEY_NAME " in the state directory is no key of this user alone: remove it");
    return 0;
}

/* The key appears whole, and the first of several launchers makes it for all. */
static int make_key(int dir, struct hc_error *err)
{
    unsigned char key[KEY_SIZE];
    char name[64];
    if (getrandom(key, sizeof key, 0) != sizeof key)
        return hc_fail(err, errno, "getrandom");
    (void)snprintf(name, sizeof name, "." KEY_NAME ".%d", getpid());
    (void)unlinkat(dir, name, 0); /* the unfinished key of a killed launcher that had our pid */
    hc_autofd fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return hc_fail(err, errno, "make " KEY_NAME " in the state directory");
    int rc = hc_write_all(fd, key, sizeof key, err);
    sodium_memzero(key, sizeof key);
    if (rc == 0 && fsync(fd) < 0)
        rc = hc_fail(err, errno, "write " KEY_NAME);
    if (rc == 0 && linkat(dir, name, dir, KEY_NAME, 0) < 0 && errno != EEXIST)
        rc = hc_fail(err, errno, "make " KEY_NAME " in the state directory");
    (void)unlinkat(dir, name, 0);
    return rc;
}

static int get_key(bool make, unsigned char key[KEY_SIZE], struct hc_error *err)
{
    hc_autofd dir = open_dir(make, err);
    if (dir < 0)
        return -1;
    if (read_key(dir, key, err) == 0)
        return 0;
    return make && err->sys == ENOENT && make_key(dir, err) == 0 ? read_key(dir, key, err) : -1;
}

/* The parts are told apart by NULs, which none of them can hold. */
static int compute(const struct hc_sealed *of, const unsigned char key[KEY_SIZE], char seal[HC_SHA256_HEX],
                   struct hc_error *err)
{
    hc_autobuf text = {0};
    const char *const parts[] = {of->what, of->path, of->sha256};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        (void)hc_buf_add(&text, parts[i], strlen(parts[i]) + 1);
    (void)hc_buf_fmt(&text, "%llu:%llu", (unsigned long long)of->st->st_dev,
                     (unsigned long long)of->st->st_ino);
    if (text.failed)
        return hc_fail(err, ENOMEM, "seal changes");
    hc_hmac_hex(key, KEY_SIZE, text.data, text.len, seal);
    return 0;
}

int hc_seal(const struct hc_sealed *of, char seal[HC_SHA256_HEX], struct hc_error *err)
{
    unsigned char key[KEY_SIZE];
    int rc = get_key(true, key, err);
    if (rc == 0)
        rc = compute(of, key, seal, err);
    sodium_memzero(key, sizeof key);
    return rc;
}

bool hc_seal_holds(const struct hc_sealed *of, const char *seal)
{
    unsigned char key[KEY_SIZE];
    char right[HC_SHA256_HEX];
    struct hc_error ignored;
    bool holds = get_key(false, key, &ignored) == 0 && compute(of, key, right, &ignored) == 0 &&
                 hc_digest_equal(right, seal);
    sodium_memzero(key, sizeof key);
    return holds;
}
