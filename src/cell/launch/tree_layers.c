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
    return 0;
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
