/* Store compiled filters: compiling one takes longer than the start of a cell. */
#include "cell/filter.h"

#include "base/fd.h"
#include "base/hash.h"
#include "policy/calls.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <sodium/crypto_shorthash.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void hash_text(struct hc_hash *h, const char *text)
{
    hc_hash_add(h, text, strlen(text) + 1);
}

/* Hash the policy's rules about single calls. */
static void hash_rules(struct hc_hash *h, const cJSON *rules)
{
    char *text = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(rules, "syscalls"));
    hash_text(h, text ? text : "");
    cJSON_free(text);
}

/* Adds to a sum of the tables, which tells one build's tables from another's and protects nothing, so that
 * SHA-256 would only take longer. */
static void sum_bytes(uint64_t *sum, const void *data, size_t len)
{
    unsigned char key[crypto_shorthash_KEYBYTES] = {0}, out[crypto_shorthash_BYTES];
    memcpy(key, sum, sizeof *sum);
    (void)crypto_shorthash(out, data, len, key);
    memcpy(sum, out, sizeof *sum);
}

static void sum_text(uint64_t *sum, const char *text)
{
    sum_bytes(sum, text, strlen(text));
}

static void sum_row(uint64_t *sum, const struct hc_call_rule *r)
{
    uint64_t numbers[2 + 3 * HC_CALL_COMPARISONS] = {r->when, (uint64_t)r->error};
    for (size_t c = 0; c < HC_CALL_COMPARISONS; c++) {
        numbers[2 + 3 * c] = r->cmp[c].arg;
        numbers[3 + 3 * c] = r->cmp[c].mask;
        numbers[4 + 3 * c] = r->cmp[c].value;
    }
    sum_text(sum, r->call);
    sum_bytes(sum, numbers, sizeof numbers);
    sum_text(sum, r->hint ? "told" : "");
}

/* The sum of all tables, which are the same for all filters of a process. */
static uint64_t sum_tables(void)
{
    static uint64_t known;
    if (known)
        return known;
    /* A row that moves from one table to the next changes the sum, too. */
    const uint64_t counts[] = {hc_call_sets_count, hc_call_rules_count, hc_zygote_rules_count,
                               hc_call_refusals_count, hc_calls_told_count};
    uint64_t sum = 0;
    sum_bytes(&sum, counts, sizeof counts);
    for (size_t i = 0; i < hc_call_sets_count; i++) {
        sum_text(&sum, hc_call_sets[i].name);
        sum_text(&sum, hc_call_sets[i].calls);
        sum_bytes(&sum, &hc_call_sets[i].when, sizeof hc_call_sets[i].when);
    }
    for (size_t i = 0; i < hc_call_rules_count; i++)
        sum_row(&sum, &hc_call_rules[i]);
    for (size_t i = 0; i < hc_zygote_rules_count; i++)
        sum_row(&sum, &hc_zygote_rules[i]);
    for (size_t i = 0; i < hc_call_refusals_count; i++) {
        sum_text(&sum, hc_call_refusals[i].calls);
        sum_bytes(&sum, &hc_call_refusals[i].error, sizeof hc_call_refusals[i].error);
    }
    for (size_t i = 0; i < hc_calls_told_count; i++)
        sum_text(&sum, hc_calls_told[i].calls);
    return known = sum; /* whole, for any thread that sees it */
}

#define CODE 8 /* version of filter.c: increase it with each change of how it uses the tables */

/* The cache key covers everything that goes into a filter: the tables, the parameters, and the version of
 * libseccomp. */
static void cache_key(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted,
                      char out[HC_SHA256_HEX])
{
    struct hc_hash h;
    hc_hash_init(&h);
    const struct scmp_version *v = seccomp_version();
    unsigned made[] = {CODE,     policy->learn, kind,     hc_filter_when(kind, policy, counted),
                       v->major, v->minor,      v->micro, seccomp_arch_native()};
    hc_hash_add(&h, made, sizeof made);
    hash_rules(&h, policy->rules);
    const uint64_t tables = sum_tables();
    hc_hash_add(&h, &tables, sizeof tables);
    hc_hash_hex(&h, out);
}

/* A cached filter is SHA-256 of the rest, then the filter. It is trusted only if it is a regular file that
 * belongs to us and that no other user may write to, since its writer decides which calls a cell may make. */
static int cache_read(int dir, const char *name, struct hc_buf *out)
{
    hc_autofd fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
        return -1;
    struct hc_error ignored;
    hc_autobuf all = {0};
    const size_t max = HC_SHA256_HEX - 1 + sizeof(struct sock_filter) * BPF_MAXINSNS;
    if (hc_read_all(fd, &all, max, &ignored) < 0 || all.len < HC_SHA256_HEX)
        return -1;
    char digest[HC_SHA256_HEX];
    const char *body = all.data + HC_SHA256_HEX - 1;
    size_t len = all.len - (HC_SHA256_HEX - 1);
    hc_sha256_hex(body, len, digest);
    if (len % sizeof(struct sock_filter) || memcmp(digest, all.data, HC_SHA256_HEX - 1) != 0)
        return -1;
    return hc_buf_add(out, body, len);
}

/* An existing file of this name is damaged, or was just written by another process with the same content. */
static int link_file(int dir, int fd, const char *name)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    (void)unlinkat(dir, name, 0);
    return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW);
}

/* If this process is killed meanwhile, no file is left, except on file systems without O_TMPFILE. */
static void cache_write(int dir, const char *name, const struct hc_buf *bpf)
{
    char digest[HC_SHA256_HEX], temp[96] = "";
    struct hc_error ignored;
    hc_autofd fd = openat(dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd < 0) {
        (void)snprintf(temp, sizeof temp, ".%.60s.%d", name, getpid());
        fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    if (fd < 0)
        return;
    hc_sha256_hex(bpf->data, bpf->len, digest);
    int rc = hc_write_all(fd, digest, HC_SHA256_HEX - 1, &ignored);
    if (rc == 0)
        rc = hc_write_all(fd, bpf->data, bpf->len, &ignored);
    if (rc == 0)
        rc = *temp ? renameat(dir, temp, dir, name) : link_file(dir, fd, name);
    if (rc < 0 && *temp)
        (void)unlinkat(dir, temp, 0);
}

int hc_filter_get(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted,
                  const char *cache_dir, struct hc_buf *out, struct hc_error *err)
{
    char key[HC_SHA256_HEX], name[HC_SHA256_HEX + 8];
    cache_key(kind, policy, counted, key);
    (void)snprintf(name, sizeof name, "%.32s.bpf", key);
    struct hc_error ignored;
    hc_autofd dir = -1;
    struct stat st;
    if (cache_dir && (access(cache_dir, F_OK) == 0 || hc_make_dirs(cache_dir, 0700, &ignored) == 0))
        dir = open(cache_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool usable = dir >= 0 && fstat(dir, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 022);
    if (usable && cache_read(dir, name, out) == 0)
        return 0;
    hc_buf_clear(out);
    if (hc_filter_compile(kind, policy, counted, SCMP_ARCH_NATIVE, out, err) < 0)
        return -1;
    if (usable)
        cache_write(dir, name, out);
    return 0;
}
