#include "cell/policy_store.h"

#include "base/fd.h"
#include "base/state.h"
#include "job/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FOLDER "/policies" /* the store, below the state directory */
#define OF_JOB ".job.json" /* ends the file name of a policy that a job has changed */
#define NAMED  ".json"     /* ends the file name of any other policy */
/* Bytes of a file's name, with its NUL; also enough for a temporary file's. */
#define NAME_SIZE (HC_SHA256_HEX + sizeof OF_JOB + 24)
#define DAY       (24 * 3600)       /* seconds of a day */
#define MAX_TEXT  ((size_t)4 << 20) /* most bytes of a policy */

static int store_path(const char *state, char out[PATH_MAX])
{
    int n = snprintf(out, PATH_MAX, "%s" FOLDER, state);
    return n > 0 && n < PATH_MAX ? 0 : -1;
}

static int open_folder(int at, const char *path, int more)
{
    struct stat st;
    hc_autofd dir = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more);
    if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022))
        return -1;
    return hc_take(&dir);
}

/* Open this user's store; `make`: create it if missing. -1: there is none. */
static int open_store(bool make)
{
    char state[PATH_MAX], path[PATH_MAX];
    struct hc_error ignored;
    if (hc_state_dir(state, &ignored) < 0 || store_path(state, path) < 0 ||
        (make && access(path, F_OK) < 0 && hc_make_dirs(path, 0700, &ignored) < 0))
        return -1;
    return open_folder(AT_FDCWD, path, 0);
}

/* Open a tenant's own folder in the store; it is made if missing. Its name cannot be that of a policy's
 * file, which is longer than a tenant's name may be. */
static int open_tenant_folder(int store, const char *tenant)
{
    struct hc_error ignored;
    if (hc_job_check_id(tenant, &ignored) < 0 || (mkdirat(store, tenant, 0700) < 0 && errno != EEXIST))
        return -1;
    return open_folder(store, tenant, O_NOFOLLOW);
}

static bool is_name(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    return digits == HC_SHA256_HEX - 1 &&
           (strcmp(name + digits, NAMED) == 0 || strcmp(name + digits, OF_JOB) == 0);
}

/* Whether it is a file that a killed process had not finished writing. */
static bool is_temporary(const char *name)
{
    return name[0] == '.' && strspn(name + 1, "0123456789abcdef") == HC_SHA256_HEX - 1 &&
           strlen(name) < NAME_SIZE;
}

static bool is_of_job(const char *name)
{
    return strcmp(name + HC_SHA256_HEX - 1, OF_JOB) == 0;
}

/* ---- the stored policies ---- */

struct entry {
    time_t used; /* when a job last used the policy (seconds since 1970) */
    char name[NAME_SIZE];
};

struct entries {
    struct entry *list; /* owned */
    size_t count, room; /* entries in `list`; entries that it has room for */
};

static bool add_entry(struct entries *e, int dir, const char *name)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return true; /* another process has removed it */
    if (e->count == e->room) {
        size_t room = e->room ? e->room * 2 : 256;
        void *grown = realloc(e->list, room * sizeof *e->list);
        if (!grown)
            return false;
        e->list = grown;
        e->room = room;
    }
    struct entry *new = &e->list[e->count++];
    new->used = st.st_mtime;
    (void)snprintf(new->name, sizeof new->name, "%.*s", (int)sizeof new->name - 1, name);
    return true;
}

/* List the policies' files in `dir`. The caller frees e->list, also after -1. */
static int list_files(int dir, struct entries *e)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    bool ok = d != NULL;
    if (!d && fd >= 0)
        (void)close(fd);
    for (const struct dirent *entry; ok && (entry = readdir(d));)
        if (is_name(entry->d_name) || is_temporary(entry->d_name))
            ok = add_entry(e, dir, entry->d_name);
    if (d)
        (void)closedir(d);
    return ok ? 0 : -1;
}

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* If a folder holds too many policies of jobs, remove the oldest quarter. Each tenant has its own folder,
 * so a tenant with many policies loses only its own. */
static void make_room(int dir)
{
    struct entries e = {0};
    size_t jobs = 0, surplus;
    if (list_files(dir, &e) == 0) {
        for (size_t i = 0; i < e.count; i++)
            jobs += is_of_job(e.list[i].name);
        surplus = jobs >= HC_POLICIES_OF_JOBS ? jobs - HC_POLICIES_OF_JOBS * 3 / 4 : 0;
        if (surplus)
            qsort(e.list, e.count, sizeof *e.list, by_use);
        for (size_t i = 0; i < e.count && surplus; i++) {
            if (!is_of_job(e.list[i].name))
                continue;
            (void)unlinkat(dir, e.list[i].name, 0);
            surplus--;
        }
    }
    free(e.list);
}

static int sweep_folder(int dir, time_t since, int *removed)
{
    struct entries e = {0};
    int rc = list_files(dir, &e);
    for (size_t i = 0; i < e.count; i++)
        if (e.list[i].used < since && unlinkat(dir, e.list[i].name, 0) == 0)
            ++*removed;
    free(e.list);
    return rc;
}

/* Call `each` with the open folder of every tenant, until it returns something other than 0. The folder's
 * descriptor is borrowed. */
static int for_each_tenant(int store, int (*each)(void *ctx, int dir), void *ctx)
{
    int rc = 0, fd = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        hc_close_fd(&fd);
        return -1;
    }
    for (const struct dirent *entry; rc == 0 && (entry = readdir(d));) {
        if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
            continue;
        hc_autofd dir = openat(store, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        rc = dir < 0 ? 0 : each(ctx, dir);
    }
    (void)closedir(d);
    return rc;
}

struct sweep {
    time_t since; /* policies used before this time are removed (seconds since 1970) */
    int removed;  /* number of policies removed so far */
};

static int sweep_tenant_folder(void *ctx, int dir)
{
    struct sweep *s = ctx;
    return sweep_folder(dir, s->since, &s->removed);
}

int hc_policies_sweep(int days)
{
    struct sweep s = {.since = time(NULL) - (time_t)days * DAY};
    hc_autofd dir = open_store(false);
    if (dir < 0)
        return 0;
    int rc = sweep_folder(dir, s.since, &s.removed);
    if (rc == 0)
        rc = for_each_tenant(dir, sweep_tenant_folder, &s);
    return rc < 0 ? -1 : s.removed;
}

/* ---- storing and finding one policy ---- */

/* Whether the policy is stored already. If so, update its time of use, at most once a day. */
static bool is_stored(int dir, const char *name)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return false;
    if (time(NULL) - st.st_mtime > DAY)
        (void)utimensat(dir, name, NULL, AT_SYMLINK_NOFOLLOW);
    return true;
}

/* Open a file without a name, which vanishes if this process is killed. On file systems without O_TMPFILE
 * it has the name `temp`. */
static int open_new(int dir, char temp[NAME_SIZE], const char *name)
{
    *temp = '\0';
    int fd = openat(dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    (void)snprintf(temp, NAME_SIZE, ".%.64s.%d", name, getpid());
    return openat(dir, temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Name the new file. An existing file of this name may go: it is empty, or has the same content from a
 * process that stored it just now. */
static int link_file(int dir, int fd, const char *temp, const char *name)
{
    char path[40];
    if (*temp)
        return renameat(dir, temp, dir, name);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    (void)unlinkat(dir, name, 0);
    return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW);
}

static void write_policy_file(int dir, const char *name, const char *text)
{
    char temp[NAME_SIZE];
    struct hc_error ignored;
    hc_autofd fd = open_new(dir, temp, name);
    if (fd < 0)
        return;
    if ((hc_write_all(fd, text, strlen(text), &ignored) < 0 || link_file(dir, fd, temp, name) < 0) && *temp)
        (void)unlinkat(dir, temp, 0);
}

/* Store a policy in the tenant's folder, or if `tenant` is NULL in the store itself. */
static void store_policy(const struct hc_policy *p, const char *sha256, bool of_job, const char *tenant)
{
    char name[NAME_SIZE];
    (void)snprintf(name, sizeof name, "%s%s", sha256, of_job ? OF_JOB : NAMED);
    hc_autofd store = open_store(true);
    hc_autofd dir = store < 0 ? -1 : tenant ? open_tenant_folder(store, tenant) : hc_take(&store);
    if (dir < 0 || is_stored(dir, name))
        return;
    char *text = hc_policy_text(p);
    if (!text)
        return;
    if (strlen(text) <= (of_job ? HC_POLICY_OF_JOB_MOST : MAX_TEXT)) {
        if (of_job)
            make_room(dir);
        write_policy_file(dir, name, text);
    }
    cJSON_free(text);
}

int hc_policy_begin(struct hc_policy *p, struct hc_error *err)
{
    if (hc_policy_note_base(p, err) < 0)
        return -1;
    store_policy(p, p->base_sha256, false, NULL);
    return 0;
}

void hc_policy_keep(const struct hc_policy *p, const char sha256[HC_SHA256_HEX], const char *tenant)
{
    if (*p->base_sha256 && strcmp(sha256, p->base_sha256) != 0)
        store_policy(p, sha256, true, tenant);
}

struct search {
    const char *sha256;  /* hash of the policy; borrowed, as is `text` */
    struct hc_buf *text; /* gets the policy */
};

static bool read_checked(const struct search *s, int dir, const char *ending)
{
    struct hc_error ignored;
    char name[NAME_SIZE], found[HC_SHA256_HEX];
    (void)snprintf(name, sizeof name, "%.64s%s", s->sha256, ending);
    hc_buf_clear(s->text);
    if (hc_read_file(dir, name, s->text, MAX_TEXT, &ignored) < 0)
        return false;
    hc_sha256_hex(s->text->data ? s->text->data : "", s->text->len, found);
    return strcmp(found, s->sha256) == 0;
}

static int find_in_tenant_folder(void *ctx, int dir)
{
    return read_checked(ctx, dir, OF_JOB);
}

static bool find_in(const struct search *s, int store)
{
    return read_checked(s, store, NAMED) || read_checked(s, store, OF_JOB) ||
           for_each_tenant(store, find_in_tenant_folder, (void *)(uintptr_t)s) > 0;
}

struct prefix_search {
    const char *prefix; /* beginning of the hash; borrowed, as is `sha256` */
    char *sha256;       /* gets the hash; "" while no file's name begins with the prefix */
};

/* Look for the one hash in `dir` that begins with the prefix. -1 if there are several. */
static int find_prefix_in(void *ctx, int dir)
{
    const struct prefix_search *l = ctx;
    int rc = 0, fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        hc_close_fd(&fd);
    for (const struct dirent *entry; d && rc == 0 && (entry = readdir(d));) {
        if (!is_name(entry->d_name) || strncmp(entry->d_name, l->prefix, strlen(l->prefix)) != 0)
            continue;
        if (*l->sha256 && strncmp(entry->d_name, l->sha256, HC_SHA256_HEX - 1) != 0)
            rc = -1;
        (void)snprintf(l->sha256, HC_SHA256_HEX, "%.64s", entry->d_name);
    }
    if (d)
        (void)closedir(d);
    return rc;
}

static int open_store_of(const char *state)
{
    char folder[PATH_MAX];
    return store_path(state, folder) < 0 ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int complete_hash(const struct hc_states *states, const char *prefix, char sha256[HC_SHA256_HEX],
                         struct hc_error *err)
{
    struct prefix_search l = {prefix, sha256};
    *sha256 = '\0';
    if (strlen(prefix) == HC_SHA256_HEX - 1) {
        (void)snprintf(sha256, HC_SHA256_HEX, "%s", prefix);
        return 0;
    }
    for (size_t i = 0; i < states->count; i++) {
        hc_autofd store = open_store_of(states->dir[i]);
        if (store >= 0 && (find_prefix_in(&l, store) < 0 || for_each_tenant(store, find_prefix_in, &l) < 0))
            return hc_fail_as(err, HC_EXIT_DATA, 0,
                              "the hashes of several policies that are kept here begin with %s", prefix);
    }
    return *sha256
               ? 0
               : hc_fail_as(err, HC_EXIT_DATA, 0, "no policy whose hash begins with %s is kept here", prefix);
}

int hc_policy_find(const char *prefix, struct hc_buf *text, struct hc_error *err)
{
    char sha256[HC_SHA256_HEX];
    const struct search s = {sha256, text};
    struct hc_states states;
    if (hc_state_search(&states, err) < 0 || complete_hash(&states, prefix, sha256, err) < 0)
        return -1;
    for (size_t i = 0; i < states.count; i++) {
        hc_autofd store = open_store_of(states.dir[i]);
        if (store >= 0 && find_in(&s, store))
            return 0;
    }
    return hc_fail_as(err, HC_EXIT_DATA, 0, "no policy with the hash %s is kept here, or it was changed",
                      sha256);
}
