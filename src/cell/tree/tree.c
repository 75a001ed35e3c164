#include "cell/tree/tree_parts.h"

#include "base/fd.h"
#include "base/state.h"
#include "cell/tree_stamps.h"
#include "policy/policy.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define MAX_META  ((size_t)1 << 20)      /* most bytes of a meta.json */
#define TOO_LARGE (1LL << 50)            /* bytes that no tree has */
#define ABI_DIR   "usr/lib/python%.8s%s" /* directory of a tree with its Python's own modules */

/* Directory of a tree in which layers are mounted; trees of older builds lack it. */
#define LAYERS_DIR "usr/lib/layers"
#define HOLD_TRIES 200 /* most tries to hold a tree that somebody else holds alone */
#define HOLD_MS    10  /* ms between two of them */

/* ---- the store ---- */

const struct hc_shelf hc_shelves[] = {
    [HC_KIND_TREE] = {"trees", "names", "previous", "tree"},
    [HC_KIND_LAYER] = {"layers", "layer-names", "layer-previous", "layer"},
};

int hc_shelf_path(char out[PATH_MAX], const char *state, const char *dir, const char *name,
                  struct hc_error *err)
{
    int n = snprintf(out, PATH_MAX, "%s/%s%s%s", state, dir, *name ? "/" : "", name);
    return n < 0 || n >= PATH_MAX ? hc_fail(err, ENAMETOOLONG, "%s", state) : 0;
}

static bool is_hex(const char *s)
{
    return s[0] && s[strspn(s, "0123456789abcdef")] == '\0';
}

static bool plain_name(const char *name)
{
    return name[0] && name[0] != '.' && strlen(name) <= 64 &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';
}

/* Complete the prefix of an ID, if exactly one ID of the shelf begins with it. */
static bool complete_id(const char *state, const struct hc_shelf *shelf, const char *prefix,
                        char id[HC_SHA256_HEX])
{
    char path[PATH_MAX];
    struct hc_error ignored;
    if (strlen(prefix) < 8 || !is_hex(prefix) || hc_shelf_path(path, state, shelf->entries, "", &ignored) < 0)
        return false;
    DIR *dir = opendir(path);
    int matches = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strlen(e->d_name) == HC_SHA256_HEX - 1 && strncmp(e->d_name, prefix, strlen(prefix)) == 0) {
            memcpy(id, e->d_name, HC_SHA256_HEX);
            matches++;
        }
    if (dir)
        (void)closedir(dir);
    return matches == 1;
}

bool hc_shelf_read(const char *state, const char *dir, const char *name, char id[HC_SHA256_HEX])
{
    char path[PATH_MAX], target[PATH_MAX];
    struct hc_error ignored;
    if (hc_shelf_path(path, state, dir, name, &ignored) < 0)
        return false;
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    const char *last = strrchr(target, '/');
    last = last ? last + 1 : target;
    if (strlen(last) != HC_SHA256_HEX - 1 || !is_hex(last))
        return false;
    memcpy(id, last, HC_SHA256_HEX);
    return true;
}

bool hc_shelf_find(const char *state, const struct hc_shelf *shelf, const char *name, char id[HC_SHA256_HEX])
{
    return plain_name(name) &&
           (hc_shelf_read(state, shelf->names, name, id) || complete_id(state, shelf, name, id));
}

static int open_root(struct hc_tree *t, const char *dir, struct hc_error *err)
{
    int n = snprintf(t->path, sizeof t->path, "%s/root", dir);
    if (n < 0 || n >= (int)sizeof t->path)
        return hc_fail(err, ENAMETOOLONG, "%s", dir);
    t->root_fd = open(t->path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return t->root_fd < 0
               ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "open the tree '%s' at %s", t->name, t->path)
               : 0;
}

static bool has_python(const struct hc_tree *t, const char *abi, const char *suffix)
{
    char path[40];
    (void)snprintf(path, sizeof path, ABI_DIR, abi, suffix);
    return faccessat(t->root_fd, path, F_OK, 0) == 0;
}

/* Find out which Python the tree has, by the directory of that Python's own modules. */
static int find_python(struct hc_tree *t, struct hc_error *err)
{
    for (const char *const *abi = hc_python_abis; *abi; abi++) {
        if (has_python(t, *abi, "")) {
            (void)snprintf(t->abi, sizeof t->abi, "%s", *abi);
            return 0;
        }
        if (has_python(t, *abi, "t"))
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                              "the tree '%s' has a free-threaded build of Python %s, which hotcell does not "
                              "run, as its guard relies on the global lock: build it of another Python",
                              t->name, *abi);
    }
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                      "the tree '%s' has no Python that hotcell runs (3.11 to 3.13): build it anew", t->name);
}

static int open_tree_at(struct hc_tree *t, const char *dir, struct hc_error *err)
{
    if (open_root(t, dir, err) < 0)
        return -1;
    if (find_python(t, err) == 0)
        return 0;
    hc_close_fd(&t->root_fd);
    return -1;
}

static int open_path(struct hc_tree *t, struct hc_error *err)
{
    char real[PATH_MAX];
    if (!realpath(t->name, real))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "tree %s", t->name);
    const char *last = strrchr(real, '/') + 1;
    if (strlen(last) == HC_SHA256_HEX - 1 && is_hex(last))
        memcpy(t->id, last, HC_SHA256_HEX);
    return open_tree_at(t, real, err);
}

/* Whether hotcell ships a recipe of that name, which "tree build NAME" takes. */
static bool has_recipe(const char *name)
{
    struct hc_error ignored;
    char dir[PATH_MAX], path[PATH_MAX];
    return hc_data_dir("rootfs", dir, &ignored) == 0 &&
           snprintf(path, sizeof path, "%s/%s.json", dir, name) < (int)sizeof path && access(path, F_OK) == 0;
}

/* Say what is wrong with a name that may be meant as the ID of a tree. */
static int fail_no_id(const char *name, struct hc_error *err)
{
    char id[HC_SHA256_HEX];
    struct hc_states states;
    if (hc_state_search(&states, err) < 0)
        return -1;
    for (size_t i = 0; i < states.count; i++)
        if (complete_id(states.dir[i], &hc_shelves[HC_KIND_LAYER], name, id))
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                              "'%.64s' is the ID of a layer: name it as '+%.64s'", name, name);
    return hc_fail_as(
        err, HC_EXIT_UNAVAILABLE, 0,
        "there is no tree '%.64s', and not just one whose ID begins so%s: 'hotcell tree list' says "
        "which trees there are",
        name, strlen(name) < 8 ? " (of an ID, 8 digits are needed)" : "");
}

static int fail_not_built(const char *name, struct hc_error *err)
{
    if (!*name)
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "a layer needs a tree before it: expected TREE+LAYER, as in 'scientific+mine'");
    if (has_recipe(name))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "tree '%s' is not built: run 'hotcell tree build %s'",
                          name, name);
    if (is_hex(name) && name[strspn(name, "abcdef")])
        return fail_no_id(name, err);
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                      "tree '%s' is not built, and no recipe has that name: 'hotcell tree list' says which "
                      "trees there are",
                      name);
}

cJSON *hc_tree_meta(const struct hc_tree *t)
{
    hc_autobuf text = {0};
    struct hc_error ignored;
    if (hc_read_file(t->root_fd, "../meta.json", &text, MAX_META, &ignored) < 0)
        return NULL;
    return cJSON_ParseWithLength(text.data, text.len);
}

/* Bytes of the files of a tree, or of a layer, alone. */
static int64_t bytes_of_one(const struct hc_tree *t)
{
    cJSON *meta = hc_tree_meta(t);
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(meta, "bytes");
    const double noted = cJSON_IsNumber(bytes) ? bytes->valuedouble : -1;
    cJSON_Delete(meta);
    return noted >= 0 && noted < TOO_LARGE ? (int64_t)noted : -1;
}

int64_t hc_tree_bytes(const struct hc_tree *t)
{
    int64_t sum = bytes_of_one(t);
    for (size_t i = 0; sum >= 0 && i < t->layer_count; i++) {
        const int64_t more = bytes_of_one(&t->layers[i]);
        sum = more < 0 ? -1 : sum + more;
    }
    return sum;
}

/* Read the recipe's name from the builder's note; "" if it has none that a command could use. */
static void read_recipe(const struct hc_tree *t, char *out, size_t size)
{
    struct hc_error ignored;
    *out = '\0';
    cJSON *meta = hc_tree_meta(t);
    const char *recipe = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(meta, "recipe"));
    if (recipe && strlen(recipe) < size && hc_tree_check_name(recipe, &ignored) == 0)
        (void)snprintf(out, size, "%s", recipe);
    cJSON_Delete(meta);
}

void hc_tree_advice(const struct hc_tree *t, char out[HC_TREE_ADVICE])
{
    char recipe[64];
    struct hc_error ignored;
    if (t->name[0] == HC_LAYER_SIGN) {
        (void)snprintf(out, HC_TREE_ADVICE, "'hotcell tree extend' makes it anew");
        return;
    }
    read_recipe(t, recipe, sizeof recipe);
    /* Whether the tree has another name than its recipe. An ID or a path is no name. */
    bool renamed = strcmp(t->name, recipe) != 0 && strlen(t->name) < sizeof recipe &&
                   hc_tree_check_name(t->name, &ignored) == 0 && !is_hex(t->name);
    if (!*recipe)
        (void)snprintf(out, HC_TREE_ADVICE, "'hotcell tree build' with its recipe makes it anew");
    else if (!has_recipe(recipe))
        (void)snprintf(out, HC_TREE_ADVICE, "'hotcell tree build' with its recipe, '%s', makes it anew",
                       recipe);
    else
        (void)snprintf(out, HC_TREE_ADVICE, "'hotcell tree build %s%s%.63s' makes it anew", recipe,
                       renamed ? " --name " : "", renamed ? t->name : "");
}

/* Find the entry of the shelf that `name` means, in the user's own store or in root's. 1: `dir` is its
 * directory; 0: there is none. */
static int find_entry(enum hc_tree_kind kind, const char *name, char id[HC_SHA256_HEX], char dir[PATH_MAX],
                      struct hc_error *err)
{
    const struct hc_shelf *shelf = &hc_shelves[kind];
    struct hc_states states;
    if (hc_state_search(&states, err) < 0)
        return -1;
    for (size_t i = 0; i < states.count; i++)
        if (hc_shelf_find(states.dir[i], shelf, name, id))
            return hc_shelf_path(dir, states.dir[i], shelf->entries, id, err) < 0 ? -1 : 1;
    return 0;
}

/* Refuse a layer that was made for another Python than the tree's. A layer without a note is taken as it is.
 */
static int check_abi(const struct hc_tree *t, const struct hc_tree *layer, struct hc_error *err)
{
    cJSON *meta = hc_tree_meta(layer);
    const char *abi = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(meta, "abi"));
    int rc = !abi || strcmp(abi, t->abi) == 0
                 ? 0
                 : hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                              "the layer '%s' was made for Python %.16s, and the tree '%.64s' has Python %s: "
                              "'hotcell tree extend' makes it anew",
                              layer->name + 1, abi, t->name, t->abi);
    cJSON_Delete(meta);
    return rc;
}

int hc_layer_open(struct hc_tree *t, const char *name, struct hc_error *err)
{
    char dir[PATH_MAX];
    *t = (struct hc_tree){.root_fd = -1, .lock_fd = -1};
    if (hc_tree_check_name(name, err) < 0)
        return -1;
    (void)snprintf(t->name, sizeof t->name, "%c%s", HC_LAYER_SIGN, name);
    int found = find_entry(HC_KIND_LAYER, name, t->id, dir, err);
    if (found < 0)
        return -1;
    if (!found)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "there is no layer '%.64s': 'hotcell tree extend BASE --name %.64s' makes it, and "
                          "'hotcell tree list' says which there are",
                          name, name);
    return open_root(t, dir, err);
}

/* Open the layers in "+NAME+NAME...". */
static int open_layers(struct hc_tree *t, char *names, struct hc_error *err)
{
    static const char sign[] = {HC_LAYER_SIGN, '\0'};
    t->layers = calloc(HC_MAX_TREE_LAYERS, sizeof *t->layers);
    if (!t->layers)
        return hc_fail(err, ENOMEM, "open layers");
    for (char *next = names + 1; next;) {
        const char *name = strsep(&next, sign);
        if (t->layer_count == HC_MAX_TREE_LAYERS)
            return hc_fail_as(err, HC_EXIT_USAGE, 0, "tree '%.100s%.100s...': at most %d layers", t->name,
                              names, HC_MAX_TREE_LAYERS);
        for (size_t i = 0; i < t->layer_count; i++)
            if (strcmp(t->layers[i].name + 1, name) == 0)
                return hc_fail_as(err, HC_EXIT_USAGE, 0, "tree '%.100s': the layer '%.64s' is named twice",
                                  t->name, name);
        struct hc_tree *layer = &t->layers[t->layer_count++];
        if (hc_layer_open(layer, name, err) < 0 || check_abi(t, layer, err) < 0)
            return -1;
    }
    if (faccessat(t->root_fd, LAYERS_DIR, F_OK, 0) == 0)
        return 0;
    char advice[HC_TREE_ADVICE];
    hc_tree_advice(t, advice);
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                      "the tree '%s' has no place for layers, as an older hotcell built it: %s", t->name,
                      advice);
}

static int open_named(struct hc_tree *t, struct hc_error *err)
{
    char dir[PATH_MAX];
    char *layers = strchr(t->name, HC_LAYER_SIGN), named[sizeof t->name] = "";
    if (layers) {
        (void)snprintf(named, sizeof named, "%s", layers);
        *layers = '\0';
    }
    int found = find_entry(HC_KIND_TREE, t->name, t->id, dir, err);
    if (found <= 0)
        return found < 0 ? -1 : fail_not_built(t->name, err);
    if (open_tree_at(t, dir, err) < 0)
        return -1;
    return layers ? open_layers(t, named, err) : 0;
}

/* Add a tree's name to a list of them, once. */
static void list_name(void *ctx, const char *name, const char *id, const char *path)
{
    struct hc_buf *list = ctx;
    char item[sizeof ", " + HC_LAYER_NAME];
    (void)id;
    (void)path;
    (void)snprintf(item, sizeof item, ", %s", name);
    size_t len = strlen(item);
    for (const char *at = list->data; *name && at && (at = strstr(at, item)); at += len)
        if (!at[len] || at[len] == ',')
            return;
    if (*name)
        (void)hc_buf_str(list, item);
}

static int fail_no_such_tree(const char *name, struct hc_error *err)
{
    struct hc_error ignored;
    hc_autobuf list = {.max = 400};
    if (!*name)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "tree: a layer needs a tree before it: expected TREE+LAYER");
    (void)hc_tree_each(HC_KIND_TREE, list_name, &list, &ignored);
    return hc_fail_as(err, HC_EXIT_DATA, 0, "tree: there is no tree '%.64s' here%s%s", name,
                      list.len ? ": expected one of " : "", list.len ? list.data + 2 : "");
}

int hc_tree_check_there(const char *name, struct hc_error *err)
{
    char copy[sizeof((struct hc_tree *)NULL)->name], id[HC_SHA256_HEX], dir[PATH_MAX], *next = copy;
    static const char sign[] = {HC_LAYER_SIGN, '\0'};
    if (strchr(name, '/') || snprintf(copy, sizeof copy, "%s", name) >= (int)sizeof copy)
        return 0;
    const char *tree = strsep(&next, sign);
    int found = find_entry(HC_KIND_TREE, tree, id, dir, err);
    if (found <= 0)
        return found < 0 ? -1 : fail_no_such_tree(tree, err);
    while (next) {
        const char *layer = strsep(&next, sign);
        if ((found = find_entry(HC_KIND_LAYER, layer, id, dir, err)) <= 0)
            return found < 0 ? -1
                             : hc_fail_as(err, HC_EXIT_DATA, 0,
                                          "tree '%.100s': there is no layer '%.64s' here", name, layer);
    }
    return 0;
}

int hc_tree_open(struct hc_tree *t, const char *name, struct hc_error *err)
{
    *t = (struct hc_tree){.root_fd = -1, .lock_fd = -1};
    if (snprintf(t->name, sizeof t->name, "%s", name) >= (int)sizeof t->name)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "tree name '%.40s...' is too long", name);
    int rc = strchr(name, '/') ? open_path(t, err) : open_named(t, err);
    if (rc < 0)
        hc_tree_finish(t);
    return rc;
}

static int hold(struct hc_tree *t, struct hc_error *err)
{
    char path[PATH_MAX];
    struct stat held, there;
    hc_autofd fd = openat(t->root_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* a directory that this user cannot read is none of a store that he prunes */
    /* What makes or removes a tree holds it for a moment only. */
    for (int tries = 0; flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK; tries++) {
        if (tries == HOLD_TRIES)
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the tree '%s' is being removed", t->name);
        (void)poll(NULL, 0, HOLD_MS);
    }
    (void)snprintf(path, sizeof path, "%.*s", (int)(strrchr(t->path, '/') - t->path), t->path);
    if (fstat(fd, &held) < 0 || stat(path, &there) < 0 || held.st_ino != there.st_ino ||
        held.st_dev != there.st_dev)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "the tree '%s' was removed just now: 'hotcell tree list' says which there are",
                          t->name);
    t->lock_fd = hc_take(&fd);
    return 0;
}

int hc_tree_hold(struct hc_tree *t, struct hc_error *err)
{
    if (hold(t, err) < 0)
        return -1;
    for (size_t i = 0; i < t->layer_count; i++)
        if (hold(&t->layers[i], err) < 0)
            return -1;
    return 0;
}

static void close_tree(struct hc_tree *t)
{
    hc_close_fd(&t->root_fd);
    hc_close_fd(&t->lock_fd);
}

void hc_tree_finish(struct hc_tree *t)
{
    close_tree(t);
    for (size_t i = 0; i < t->layer_count; i++)
        close_tree(&t->layers[i]);
    free(t->layers);
    t->layers = NULL;
    t->layer_count = 0;
}

/* ---- building and removing ---- */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    return type == FTW_DP ? rmdir(path) : unlink(path);
}

/* Only for directories of our own store, to which no other user may write. */
void hc_tree_discard(const char *staging)
{
    (void)nftw(staging, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static int store_dirs(const struct hc_shelf *shelf, char trees[PATH_MAX], char names[PATH_MAX],
                      struct hc_error *err)
{
    char state[PATH_MAX];
    if (hc_state_dir(state, err) < 0 || hc_shelf_path(trees, state, shelf->entries, "", err) < 0 ||
        hc_shelf_path(names, state, shelf->names, "", err) < 0)
        return -1;
    if (hc_make_dirs(trees, 0755, err) < 0 || hc_make_dirs(names, 0755, err) < 0)
        return hc_exit_as(err, HC_EXIT_CONFIG);
    return 0;
}

static void remove_stale_staging(const char *trees)
{
    DIR *dir = opendir(trees);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, ".new-", 5) != 0)
            continue;
        hc_autofd fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        char path[PATH_MAX];
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            snprintf(path, sizeof path, "%s/%s", trees, e->d_name) < (int)sizeof path)
            hc_tree_discard(path);
    }
    if (dir)
        (void)closedir(dir);
}

int hc_tree_stage(enum hc_tree_kind kind, char staging[PATH_MAX], int *lock_fd, struct hc_error *err)
{
    char trees[PATH_MAX], names[PATH_MAX];
    if (store_dirs(&hc_shelves[kind], trees, names, err) < 0)
        return -1;
    /* Lock the store until the new directory is locked: else another process's sweep would take it for a
     * left-over. */
    hc_autofd store = open(trees, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store < 0 || flock(store, LOCK_EX) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "hold %s", trees);
    remove_stale_staging(trees);
    if (snprintf(staging, PATH_MAX, "%s/.new-XXXXXX", trees) >= PATH_MAX || !mkdtemp(staging))
        return hc_fail(err, errno, "make a staging directory in %s", trees);
    hc_autofd fd = open(staging, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* 0755: a root launcher's guests are other users, and this directory becomes the tree's. */
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fchmod(fd, 0755) < 0)
        return hc_fail(err, errno, "hold %s", staging);
    *lock_fd = hc_take(&fd);
    return 0;
}

static int write_index(int dir, const struct hc_buf *index, struct hc_error *err)
{
    hc_autofd fd = openat(dir, "index", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return hc_fail(err, errno, "write the index");
    if (hc_write_all(fd, index->data, index->len, err) < 0)
        return hc_ctx(err, "write the index");
    return fsync(fd) < 0 ? hc_fail(err, errno, "sync the index") : 0;
}

/* Make the symbolic link STATE/DIR/NAME to an entry of the shelf, in one step. */
static int link_name(const struct hc_shelf *shelf, const char *state, const char *dir, const char *name,
                     const char *id, struct hc_error *err)
{
    char target[96], temp[PATH_MAX], path[PATH_MAX], hidden[96];
    (void)snprintf(target, sizeof target, "../%s/%s", shelf->entries, id);
    (void)snprintf(hidden, sizeof hidden, ".%.64s.%d", name, getpid());
    if (hc_shelf_path(path, state, dir, "", err) < 0 || hc_make_dirs(path, 0755, err) < 0 ||
        hc_shelf_path(temp, state, dir, hidden, err) < 0 || hc_shelf_path(path, state, dir, name, err) < 0)
        return -1;
    (void)unlink(temp);
    if (symlink(target, temp) < 0 || rename(temp, path) < 0)
        return hc_fail(err, errno, "name the %s '%s'", shelf->what, name);
    return 0;
}

int hc_shelf_point(const struct hc_shelf *shelf, const char *state, const char *name, const char *id,
                   struct hc_error *err)
{
    char was[HC_SHA256_HEX];
    if (hc_shelf_read(state, shelf->names, name, was) && strcmp(was, id) != 0 &&
        link_name(shelf, state, shelf->previous, name, was, err) < 0)
        return -1;
    return link_name(shelf, state, shelf->names, name, id, err);
}

int hc_tree_check_name(const char *name, struct hc_error *err)
{
    if (plain_name(name))
        return 0;
    return hc_fail_as(
        err, HC_EXIT_USAGE, 0,
        "tree name '%.80s': expected 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.'", name);
}

/* Check the tree of the same ID that is in the store already. 0 if its files are unchanged; then it gets
 * new stamps. */
static int check_present(const char *final, const char *id, const struct hc_buf *want, struct hc_error *err)
{
    hc_autobuf have = {.max = HC_INDEX_MAX};
    hc_autobuf stamps = {0};
    struct hc_error ignored;
    hc_autofd dir = open(final, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0 || hc_stamps_take(dir, want->data, &stamps, err) < 0 || hc_tree_index(dir, &have, err) < 0 ||
        have.len != want->len || memcmp(have.data, want->data, have.len) != 0)
        return -1;
    (void)hc_stamps_keep(dir, id, &stamps, &ignored); /* a failure leaves the old stamps */
    return 0;
}

/* A tree of this ID is in the store already: keep it, or if its files were changed, replace it. */
static int keep_or_replace(const char *staging, const char *final, const char *id, const struct hc_buf *index,
                           struct hc_error *err)
{
    struct hc_error ignored;
    if (check_present(final, id, index, &ignored) < 0 &&
        renameat2(AT_FDCWD, staging, AT_FDCWD, final, RENAME_EXCHANGE) < 0)
        return hc_fail(err, errno, "replace %s", final);
    hc_tree_discard(staging);
    return 0;
}

int hc_tree_adopt(enum hc_tree_kind kind, const char *staging, const char *name, char id[HC_SHA256_HEX],
                  struct hc_error *err)
{
    char state[PATH_MAX], trees[PATH_MAX], names[PATH_MAX], final[PATH_MAX];
    if (hc_tree_check_name(name, err) < 0 || hc_state_dir(state, err) < 0)
        return -1;
    if (store_dirs(&hc_shelves[kind], trees, names, err) < 0)
        return -1;
    hc_autofd dir = open(staging, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return hc_fail(err, errno, "open %s", staging);
    hc_autobuf index = {.max = HC_INDEX_MAX};
    hc_autobuf stamps = {0};
    if (hc_tree_index(dir, &index, err) < 0 || write_index(dir, &index, err) < 0)
        return -1;
    hc_sha256_hex(index.data, index.len, id);
    if (hc_stamps_take(dir, index.data, &stamps, err) < 0 || hc_stamps_keep(dir, id, &stamps, err) < 0)
        return -1;
    if (snprintf(final, sizeof final, "%s/%s", trees, id) >= PATH_MAX)
        return hc_fail(err, ENAMETOOLONG, "%s", trees);
    /* What is renamed must be on disk first, or a power cut leaves a name without the content. */
    if (syncfs(dir) < 0)
        return hc_fail(err, errno, "sync %s", trees);
    if (rename(staging, final) < 0) {
        if (errno != ENOTEMPTY && errno != EEXIST)
            return hc_fail(err, errno, "rename %s to %s", staging, final);
        if (keep_or_replace(staging, final, id, &index, err) < 0)
            return -1;
    }
    return hc_shelf_point(&hc_shelves[kind], state, name, id, err);
}

int hc_shelf_discard(const char *state, const struct hc_shelf *shelf, const char *id, struct hc_error *err)
{
    char path[PATH_MAX], gone[PATH_MAX], hidden[sizeof ".new-" + HC_SHA256_HEX];
    (void)snprintf(hidden, sizeof hidden, ".new-%s", id);
    if (hc_shelf_path(path, state, shelf->entries, id, err) < 0 ||
        hc_shelf_path(gone, state, shelf->entries, hidden, err) < 0)
        return -1;
    /* Rename the tree first: an interrupted removal must not look like a tree. */
    if (rename(path, gone) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "remove %s", path);
    hc_tree_discard(gone);
    return access(gone, F_OK) == 0 ? hc_fail_as(err, HC_EXIT_CONFIG, 0, "could not remove all of %s", gone)
                                   : 0;
}

struct name_search {
    const char *id; /* ID of the tree */
    int count;      /* names of this tree so far */
};

static void count_names(void *ctx, const char *name, const char *id, const char *path)
{
    struct name_search *s = ctx;
    (void)path;
    if (*name && strcmp(id, s->id) == 0)
        s->count++;
}

int hc_tree_remove(enum hc_tree_kind kind, const char *name, struct hc_error *err)
{
    const struct hc_shelf *shelf = &hc_shelves[kind];
    char state[PATH_MAX], path[PATH_MAX], id[HC_SHA256_HEX];
    if (hc_state_dir(state, err) < 0)
        return -1;
    if (!hc_shelf_find(state, shelf, name, id))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no %s '%s' in %s", shelf->what, name, state);
    if (hc_shelf_path(path, state, shelf->names, name, err) < 0)
        return -1;
    bool was_name = unlink(path) == 0;
    char before[PATH_MAX];
    if (was_name && hc_shelf_path(before, state, shelf->previous, name, err) == 0)
        (void)unlink(before);
    if (!was_name && errno != ENOENT)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "remove the name '%s'", name);
    struct name_search s = {.id = id};
    if (hc_shelf_each(state, shelf, count_names, &s, err) < 0)
        return -1;
    if (s.count && !was_name)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the %s %s has a name, see 'hotcell tree list': remove that",
                          shelf->what, id);
    if (s.count)
        return 0;
    return hc_shelf_discard(state, shelf, id, err);
}

/* ---- listing and verifying trees ---- */

static int for_each_unnamed(const char *state, const struct hc_shelf *shelf, hc_tree_visitor *each, void *ctx,
                            const struct hc_entries *named, struct hc_error *err)
{
    char path[PATH_MAX];
    if (hc_shelf_path(path, state, shelf->entries, "", err) < 0)
        return -1;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        bool known = false;
        for (size_t i = 0; i < named->count; i++)
            known = known || strcmp(named->line[i], e->d_name) == 0;
        char tree[PATH_MAX];
        if (!known && strlen(e->d_name) == HC_SHA256_HEX - 1 && is_hex(e->d_name) &&
            hc_shelf_path(tree, state, shelf->entries, e->d_name, err) == 0)
            each(ctx, "", e->d_name, tree);
    }
    if (dir)
        (void)closedir(dir);
    return 0;
}

int hc_shelf_each(const char *state, const struct hc_shelf *shelf, hc_tree_visitor *each, void *ctx,
                  struct hc_error *err)
{
    char path[PATH_MAX];
    if (hc_shelf_path(path, state, shelf->names, "", err) < 0)
        return -1;
    struct hc_entries named = {0};
    DIR *dir = opendir(path);
    int rc = 0;
    for (struct dirent *e; rc == 0 && dir && (e = readdir(dir));) {
        char id[HC_SHA256_HEX], tree[PATH_MAX];
        if (!plain_name(e->d_name) || !hc_shelf_find(state, shelf, e->d_name, id))
            continue;
        rc = hc_shelf_path(tree, state, shelf->entries, id, err) < 0
                 ? -1
                 : hc_entries_add(&named, strdup(id), err);
        if (rc == 0)
            each(ctx, e->d_name, id, tree);
    }
    if (dir)
        (void)closedir(dir);
    if (rc == 0)
        rc = for_each_unnamed(state, shelf, each, ctx, &named, err);
    hc_entries_finish(&named);
    return rc;
}

int hc_tree_each(enum hc_tree_kind kind, hc_tree_visitor *each, void *ctx, struct hc_error *err)
{
    struct hc_states states;
    if (hc_state_search(&states, err) < 0)
        return -1;
    for (size_t i = 0; i < states.count; i++)
        if (hc_shelf_each(states.dir[i], &hc_shelves[kind], each, ctx, err) < 0)
            return -1;
    return 0;
}

/* Compare two sorted texts, and print the lines that only one of them has. A changed entry is printed once
 * for each text. */
static int report_differences(char *want, char *have, FILE *out)
{
    int count = 0;
    char *w_rest = NULL, *h_rest = NULL;
    char *w = strtok_r(want, "\n", &w_rest), *h = strtok_r(have, "\n", &h_rest);
    while (w || h) {
        int order = !w ? 1 : !h ? -1 : strcmp(w, h);
        if (order < 0)
            (void)fprintf(out, "expected: %s\n", w);
        else if (order > 0)
            (void)fprintf(out, "found:    %s\n", h);
        count += order != 0;
        if (order <= 0)
            w = strtok_r(NULL, "\n", &w_rest);
        if (order >= 0)
            h = strtok_r(NULL, "\n", &h_rest);
    }
    return count;
}

/* Write new stamps. Fails for users who do not own the store. */
static int renew_stamps(const struct hc_tree *t, int dir, struct hc_buf *stamps, struct hc_error *unstamped)
{
    *unstamped = (struct hc_error){0};
    if (!t->id[0])
        return hc_fail(unstamped, 0, "it is not called by its ID");
    return hc_stamps_keep(dir, t->id, stamps, unstamped);
}

int hc_tree_verify(const struct hc_tree *t, FILE *out, struct hc_error *unstamped, struct hc_error *err)
{
    char dir_path[PATH_MAX], id[HC_SHA256_HEX];
    (void)snprintf(dir_path, sizeof dir_path, "%.*s", (int)(strrchr(t->path, '/') - t->path), t->path);
    hc_autofd dir = open(dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return hc_fail(err, errno, "open %s", dir_path);
    hc_autobuf want = {.max = HC_INDEX_MAX};
    hc_autobuf have = {.max = HC_INDEX_MAX};
    hc_autobuf stamps = {0};
    if (hc_read_file(dir, "index", &want, HC_INDEX_MAX, err) < 0)
        return hc_ctx(err, "tree '%s'", t->name);
    hc_sha256_hex(want.data, want.len, id);
    bool index_wrong = t->id[0] && strcmp(id, t->id) != 0;
    if (index_wrong)
        (void)fprintf(out, "the index has SHA-256 %s, but the tree is called %s\n", id, t->id);
    /* Take the stamps before hashing: a file that is written meanwhile then has another stamp. */
    if ((!index_wrong && hc_stamps_take(dir, want.data, &stamps, err) < 0) ||
        hc_tree_index(dir, &have, err) < 0)
        return hc_ctx(err, "tree '%s'", t->name);
    if (report_differences(want.data, have.data, out) || index_wrong)
        return 1;
    if (unstamped)
        (void)renew_stamps(t, dir, &stamps, unstamped);
    return 0;
}
