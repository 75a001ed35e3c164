/* Going back to what a name meant before, and removing what nothing needs. */
#include "cell/tree/tree_parts.h"

#include "base/fd.h"
#include "base/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

int hc_tree_rollback(enum hc_tree_kind kind, const char *name, char id[HC_SHA256_HEX], struct hc_error *err)
{
    const struct hc_shelf *shelf = &hc_shelves[kind];
    char state[PATH_MAX], path[PATH_MAX];
    if (hc_tree_check_name(name, err) < 0 || hc_state_dir(state, err) < 0)
        return -1;
    if (!hc_shelf_read(state, shelf->previous, name, id))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the %s '%s' has meant nothing else before", shelf->what,
                          name);
    if (hc_shelf_path(path, state, shelf->entries, id, err) < 0)
        return -1;
    if (access(path, F_OK) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "the %s '%s' was %.12s before, which has been removed",
                          shelf->what, name, id);
    return hc_shelf_point(shelf, state, name, id, err);
}

/* A search for entries that nothing needs. */
struct pruning {
    const struct hc_shelf *shelf;
    const char *state;
    struct hc_entries ids, why; /* IDs of the entries, and why each is kept; "": nobody knows a reason */
    struct hc_error err;        /* the first error; empty: none */
};

static void note_entry(void *ctx, const char *name, const char *id, const char *path)
{
    struct pruning *p = ctx;
    char *why = NULL;
    (void)path;
    for (size_t i = 0; i < p->ids.count; i++)
        if (strcmp(p->ids.line[i], id) == 0)
            return;
    int n = *name ? asprintf(&why, "it is '%s'", name) : asprintf(&why, "%s", "");
    if (n < 0 || hc_entries_add(&p->ids, strdup(id), &p->err) < 0)
        free(n < 0 ? NULL : why);
    else
        (void)hc_entries_add(&p->why, why, &p->err);
}

/* Note that an entry is what a name meant before. */
static void note_previous(struct pruning *p, const char *name)
{
    char id[HC_SHA256_HEX], *why;
    if (!hc_shelf_read(p->state, p->shelf->previous, name, id))
        return;
    for (size_t i = 0; i < p->why.count; i++) {
        if (strcmp(p->ids.line[i], id) != 0 || *p->why.line[i] ||
            asprintf(&why, "it was '%s' before, for 'hotcell tree rollback'", name) < 0)
            continue;
        free(p->why.line[i]);
        p->why.line[i] = why;
    }
}

static int note_all_previous(struct pruning *p, struct hc_error *err)
{
    char path[PATH_MAX];
    if (hc_shelf_path(path, p->state, p->shelf->previous, "", err) < 0)
        return -1;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.')
            note_previous(p, e->d_name);
    if (dir)
        (void)closedir(dir);
    return 0;
}

/* Hold the entry alone. -1: others hold it. */
static int hold_alone(const struct pruning *p, const char *id)
{
    char path[PATH_MAX];
    struct hc_error ignored;
    if (hc_shelf_path(path, p->state, p->shelf->entries, id, &ignored) < 0)
        return -1;
    hc_autofd fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? hc_take(&fd) : -1;
}

static int prune_one(struct pruning *p, size_t i, bool remove, hc_tree_pruned *report, void *ctx,
                     struct hc_error *err)
{
    const char *id = p->ids.line[i], *why = p->why.line[i];
    if (*why) {
        report(ctx, id, why);
        return 0;
    }
    hc_autofd lock = hold_alone(p, id);
    if (lock < 0) {
        report(ctx, id, "a job, a session or a waiting cell uses it");
        return 0;
    }
    if (remove && hc_shelf_discard(p->state, p->shelf, id, err) < 0)
        return -1;
    report(ctx, id, NULL);
    return 0;
}

int hc_tree_prune(enum hc_tree_kind kind, bool previous, bool remove, hc_tree_pruned *report, void *ctx,
                  struct hc_error *err)
{
    char state[PATH_MAX];
    struct pruning p = {.shelf = &hc_shelves[kind], .state = state};
    if (hc_state_dir(state, err) < 0)
        return -1;
    int rc = hc_shelf_each(state, p.shelf, note_entry, &p, err);
    if (rc == 0 && *p.err.text) {
        *err = p.err;
        rc = -1;
    }
    if (rc == 0 && !previous)
        rc = note_all_previous(&p, err);
    for (size_t i = 0; rc == 0 && i < p.why.count; i++)
        rc = prune_one(&p, i, remove, report, ctx, err);
    hc_entries_finish(&p.ids);
    hc_entries_finish(&p.why);
    return rc;
}
