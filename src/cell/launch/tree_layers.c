/* The layers of a cell's tree: their mounts, what the manifest says of them, and the guard's rules for their
 * modules. */
#include "cell/launch/launch.h"

#include "base/fd.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Open the programs of a layer that a recipe made, if it is one. */
static int open_local(struct hc_launch *l, const struct hc_tree *layer, uint64_t attr, struct hc_error *err)
{
    struct hc_source *s = &l->plan.local; /* hc_launch_finish frees it */
    hc_autofd fd = openat(layer->root_fd, HC_LAYER_LOCAL, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? 0 : hc_fail(err, errno, "open %s/" HC_LAYER_LOCAL, layer->path);
    if (s->fd >= 0)
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "tree '%s': the layer '%s' has the programs of a recipe, as a layer before it has: "
                          "name one of them",
                          l->tree.name, layer->name + 1);
    if (faccessat(l->tree.root_fd, &HC_LOCAL[1], F_OK, 0) < 0) {
        char advice[HC_TREE_ADVICE];
        hc_tree_advice(&l->tree, advice);
        return hc_fail_as(
            err, HC_EXIT_UNAVAILABLE, 0,
            "the tree '%s' has no place for the programs of the layer '%s', as an older hotcell "
            "built it: %s",
            l->tree.name, layer->name + 1, advice);
    }
    if (asprintf(&s->path, "%s/" HC_LAYER_LOCAL, layer->path) < 0) {
        s->path = NULL;
        return hc_fail(err, ENOMEM, "%s", layer->path);
    }
    s->attr = attr;
    s->fd = hc_take(&fd);
    (void)snprintf(s->target, sizeof s->target, "%s", &HC_LOCAL[1]);
    return 0;
}

int hc_launch_open_layers(struct hc_launch *l, uint64_t attr, struct hc_error *err)
{
    for (size_t i = 0; i < l->tree.layer_count; i++) {
        const struct hc_tree *layer = &l->tree.layers[i];
        struct hc_source *s = &l->plan.layers[l->plan.layer_count++]; /* hc_launch_finish frees it */
        *s = (struct hc_source){.fd = -1, .mount_fd = -1, .attr = attr};
        s->path = strdup(layer->path);
        if (!s->path)
            return hc_fail(err, ENOMEM, "%s", layer->path);
        s->fd = fcntl(layer->root_fd, F_DUPFD_CLOEXEC, 0);
        if (s->fd < 0)
            return hc_fail(err, errno, "%s", layer->path);
        (void)snprintf(s->target, sizeof s->target, "%s/%s", &HC_LAYERS_PLACE[1], layer->name + 1);
        struct hc_manifest_layer *m = &l->m->tree_layers.list[l->m->tree_layers.count++];
        (void)snprintf(m->name, sizeof m->name, "%s", layer->name + 1);
        memcpy(m->sha256, layer->id, sizeof m->sha256);
        if (open_local(l, layer, attr, err) < 0)
            return -1;
    }
    return 0;
}

int hc_launch_clone_layers(struct hc_launch *l, struct hc_error *err)
{
    for (size_t i = 0; i < l->plan.layer_count; i++) {
        struct hc_source *s = &l->plan.layers[i];
        if ((s->mount_fd = hc_source_clone(s, false, err)) < 0)
            return -1;
    }
    struct hc_source *local = &l->plan.local;
    return local->fd < 0 || (local->mount_fd = hc_source_clone(local, false, err)) >= 0 ? 0 : -1;
}

/* Append a directory to a list as PATH is one. An empty item would be the working directory. */
static void add_to_path(struct hc_buf *path, const char *dir, const char *below)
{
    if (path->len)
        (void)hc_buf_str(path, ":");
    (void)hc_buf_str(path, dir);
    (void)hc_buf_str(path, below);
}

int hc_launch_add_programs(const struct hc_launch *l, struct hc_buf *path, struct hc_error *err)
{
    if (!hc_policy_has_commands(l->run->policy))
        return 0;
    if (l->plan.local.fd >= 0)
        add_to_path(path, HC_LOCAL, "/bin");
    for (size_t i = 0; i < l->plan.layer_count; i++) {
        char dir[sizeof l->plan.layers[i].target + 1];
        (void)snprintf(dir, sizeof dir, "/%s", l->plan.layers[i].target);
        if (faccessat(l->plan.layers[i].fd, HC_LAYER_PROGRAMS, F_OK, 0) == 0)
            add_to_path(path, dir, "/" HC_LAYER_PROGRAMS);
    }
    return path->failed ? hc_fail(err, ENOMEM, "environment") : 0;
}

/* The number of bytes at the begin of an entry's name that are the name of a module; 0: it is none. */
static size_t module_length(const struct dirent *e)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t len = strspn(e->d_name, letters);
    const char *rest = e->d_name + len;
    size_t rest_len = strlen(rest);
    if (strcmp(e->d_name, "__pycache__") == 0)
        return 0;
    bool file = strcmp(rest, ".py") == 0 || (rest_len > 3 && strcmp(rest + rest_len - 3, ".so") == 0);
    return !isdigit((unsigned char)e->d_name[0]) && (!*rest || file) ? len : 0;
}

/* Add the modules of one layer to a list of names. */
static int add_modules(const struct hc_source *s, cJSON *names, struct hc_error *err)
{
    char name[NAME_MAX + 1];
    int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        hc_close_fd(&fd);
        return hc_fail(err, errno, "open %s", s->path);
    }
    int rc = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(dir));) {
        size_t len = module_length(e);
        (void)snprintf(name, sizeof name, "%.*s", (int)len, e->d_name);
        if (len && !cJSON_AddItemToArray(names, cJSON_CreateString(name)))
            rc = hc_fail(err, ENOMEM, "handover");
    }
    (void)closedir(dir);
    return rc;
}

int hc_launch_allow_layers(const struct hc_launch *l, cJSON *rules, struct hc_error *err)
{
    cJSON *imports = cJSON_GetObjectItemCaseSensitive(rules, "imports");
    cJSON *allow = cJSON_GetObjectItemCaseSensitive(imports, "allow");
    for (size_t i = 0; cJSON_IsArray(allow) && i < l->plan.layer_count; i++)
        if (add_modules(&l->plan.layers[i], allow, err) < 0)
            return -1;
    return 0;
}
