#include "cell/doctor/host_checks.h"

#include "base/fd.h"
#include "base/state.h"
#include "cell/doctor/probe.h"
#include "cell/policies.h"
#include "cell/run.h"
#include "cell/tree.h"
#include "cell/tree_stamps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- policy and ids ---- */

enum hc_host_level hc_host_check_policy(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_error err;
    if (hc_policy_load(&h->policy, "default", hc_policies_read, NULL, &err) < 0)
        return hc_host_say(HC_HOST_FAIL, row, "%s", err.text);
    h->has |= HC_HAS_POLICY;
    return hc_host_say(HC_HOST_OK, row, "'%s' is valid", h->policy.name);
}

enum hc_host_level hc_host_check_ids(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_error err;
    uid_t start = 0, count = 0;
    if (hc_ids_range(&start, &count, &err) < 0)
        return hc_host_say(HC_HOST_FAIL, row, "%s", err.text);
    const uid_t last = start + count - 1;
    if ((h->has & HC_HAS_ROOT) && !hc_ids_exist(start, count)) {
        hc_host_mend(row, "set HOTCELL_UID_RANGE=START:COUNT to a range of the ids in /proc/self/uid_map");
        return hc_host_say(HC_HOST_FAIL, row,
                           "host uids %u to %u do not exist in the user namespace that hotcell itself is in",
                           start, last);
    }
    struct hc_ids leased;
    if (hc_ids_lease(&leased, &err) < 0)
        return hc_host_say(HC_HOST_FAIL, row, "%s", err.text);
    h->ids = leased;
    h->has |= HC_HAS_IDS;
    if (h->has & HC_HAS_ROOT)
        return hc_host_say(HC_HOST_OK, row, "each job gets its own of the host uids %u to %u", start, last);
    return hc_host_say(HC_HOST_OK, row, "jobs run as uid %u, gid %u", h->ids.uid, h->ids.gid);
}

/* ---- directories ---- */

/* The wanted directory, or its nearest parent that exists. */
static void existing_dir(const char *wanted, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s", wanted);
    while (access(out, F_OK) < 0 && errno == ENOENT) {
        char *slash = strrchr(out, '/');
        slash[slash == out] = '\0';
    }
}

enum hc_host_level hc_host_check_state(struct hc_host *h, struct hc_host_row *row)
{
    char dir[PATH_MAX];
    struct hc_error err;
    if (hc_state_dir(h->state, &err) < 0)
        return hc_host_say(HC_HOST_FAIL, row, "%s", err.text);
    h->has |= HC_HAS_STATE;
    existing_dir(h->state, dir);
    if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0)
        return hc_host_say(HC_HOST_OK, row, "%s", h->state);
    int why = errno;
    row->cost = "no trees can be built, and filters are compiled for each run";
    return hc_host_say(HC_HOST_NOTE, row, "%s cannot be written to: %s", dir, strerror(why));
}

enum hc_host_level hc_host_check_idmap(struct hc_host *h, struct hc_host_row *row)
{
    char dir[PATH_MAX], good[PATH_MAX + 32];
    struct hc_error err;
    existing_dir(h->state, dir);
    (void)snprintf(good, sizeof good, "on the file system of %s", dir);
    return hc_host_probed(hc_probe_idmap(dir, &h->ids, &err), &err, HC_HOST_NOTE, row, good);
}

/* ---- files ---- */

enum hc_host_level hc_host_check_shim(struct hc_host *h, struct hc_host_row *row)
{
    char path[PATH_MAX];
    struct hc_error err;
    struct hc_tree tree;
    bool has_tree = hc_tree_open(&tree, h->policy.tree, &err) == 0;
    int rc = hc_shim_path(has_tree ? tree.abi : HC_PYTHON_ABI, path, &err);
    hc_tree_finish(&tree);
    if (rc < 0)
        return hc_host_say(HC_HOST_FAIL, row, "%s", err.text);
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
        return hc_host_say(HC_HOST_FAIL, row, "%s cannot be executed: %s", path, strerror(errno));
    return hc_host_say(HC_HOST_OK, row, "%s", path);
}

/* The search for trees. */
struct trees {
    const char *wanted;      /* name of the default policy's tree */
    bool has_wanted;         /* the store has that tree */
    char first[256];         /* name or ID of the first other tree; empty: there is none */
    struct hc_host_row *row; /* gets the other trees, in its `detail`; borrowed */
};

static void note_tree(void *ctx, const char *name, const char *id, const char *path)
{
    (void)path;
    struct trees *t = ctx;
    const char *label = *name ? name : id;
    if (strcmp(name, t->wanted) == 0) {
        t->has_wanted = true;
        return;
    }
    char entry[320];
    (void)snprintf(entry, sizeof entry, "'%.200s', %.12s", *name ? name : "unnamed", id);
    hc_host_add(t->row, ", ", entry);
    if (!t->first[0])
        (void)snprintf(t->first, sizeof t->first, "%s", label);
}

enum hc_host_level hc_host_check_tree(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_host_row others = {.name = ""};
    struct trees t = {.wanted = h->policy.tree, .row = &others};
    struct hc_tree tree;
    struct hc_error err, ignored;
    (void)hc_tree_each(HC_KIND_TREE, note_tree, &t, &ignored);
    char also[700] = "";
    if (others.detail[0])
        (void)snprintf(also, sizeof also, " (also there: %.640s)", others.detail);
    if (hc_tree_open(&tree, h->policy.tree, &err) == 0) {
        (void)snprintf(h->tree, sizeof h->tree, "%s", h->policy.tree);
        h->has |= HC_HAS_TREE;
        (void)hc_host_say(HC_HOST_OK, row, "'%s', %.12s%s", tree.name, tree.id, also);
        hc_tree_finish(&tree);
        return HC_HOST_OK;
    }
    (void)snprintf(h->tree, sizeof h->tree, "%s", t.first);
    if (t.first[0])
        h->has |= HC_HAS_TREE;
    if (!strchr(h->policy.tree, '/'))
        hc_host_mend(row, "run 'hotcell tree build %s'", h->policy.tree);
    if (t.has_wanted || strchr(h->policy.tree, '/'))
        return hc_host_say(HC_HOST_FAIL, row, "%s", err.text);
    return hc_host_say(HC_HOST_FAIL, row, "'%s' is not built%s", h->policy.tree, also);
}

/* The result of comparing all trees with their stamps. */
struct stamped {
    const char *wanted;                    /* the tree of the default policy */
    bool lost_wanted;                      /* that tree was changed */
    size_t fit;                            /* number of unchanged trees */
    struct hc_host_row changed, unstamped; /* list in their `detail` changed trees; trees without stamps */
};

static void compare_stamps(struct stamped *all, const struct hc_tree *tree)
{
    struct hc_stamps s;
    struct hc_error err;
    char entry[320];
    int rc = hc_stamps_open(&s, tree, true, &err);
    if (rc == 0 && s.map)
        rc = hc_stamps_check(&s, 0, s.count, &err);
    (void)snprintf(entry, sizeof entry, "'%.255s'", tree->name);
    if (rc < 0)
        hc_host_add(&all->changed, "; ", err.text);
    else if (!s.map)
        hc_host_add(&all->unstamped, ", ", entry);
    else
        all->fit++;
    all->lost_wanted |= rc < 0 && strcmp(tree->name, all->wanted) == 0;
    hc_stamps_finish(&s);
}

/* Skip unusable trees: the default policy's tree has a row of its own. */
static void visit_stamps(void *ctx, const char *name, const char *id, const char *path)
{
    (void)path;
    struct hc_tree tree;
    struct hc_error ignored;
    if (hc_tree_open(&tree, *name ? name : id, &ignored) == 0)
        compare_stamps(ctx, &tree);
    hc_tree_finish(&tree);
}

static void visit_layer(void *ctx, const char *name, const char *id, const char *path)
{
    (void)path;
    struct hc_tree layer;
    struct hc_error ignored;
    if (hc_layer_open(&layer, *name ? name : id, &ignored) == 0)
        compare_stamps(ctx, &layer);
    hc_tree_finish(&layer);
}

enum hc_host_level hc_host_check_stamps(struct hc_host *h, struct hc_host_row *row)
{
    struct stamped all = {.wanted = h->policy.tree};
    struct hc_error err;
    if (hc_tree_each(HC_KIND_TREE, visit_stamps, &all, &err) < 0 ||
        hc_tree_each(HC_KIND_LAYER, visit_layer, &all, &err) < 0)
        return hc_host_say(HC_HOST_NOTE, row, "%s", err.text);
    const char *unstamped = all.unstamped.detail;
    if (*all.changed.detail)
        return hc_host_say(all.lost_wanted ? HC_HOST_FAIL : HC_HOST_NOTE, row, "%s", all.changed.detail);
    if (!*unstamped)
        return hc_host_say(HC_HOST_OK, row, "as their stamps say: %zu", all.fit);
    row->cost = "what is changed in such a tree is not noticed";
    hc_host_mend(row, "run 'hotcell tree verify' with these names");
    return hc_host_say(HC_HOST_NOTE, row, "without stamps that fit their place: %s", unstamped);
}

/* ---- a complete cell ---- */

static void list_layers(const struct hc_manifest *m, bool on, struct hc_host_row *row)
{
    const char *separator = on ? "; on: " : "; off: ";
    for (size_t i = 0; i < m->layer_count; i++) {
        if (m->layers[i].on != on)
            continue;
        hc_host_add(row, separator, m->layers[i].name);
        separator = ", ";
    }
}

static enum hc_host_level check_outcome(const struct hc_manifest *m, const char *tree,
                                        struct hc_host_row *row)
{
    static const char expected[] = "hello\n";
    if (m->status != HC_STATUS_OK)
        return hc_host_say(HC_HOST_FAIL, row, "%s: %s", hc_status_name(m->status), m->reason);
    if (m->out.text.len != strlen(expected) || memcmp(m->out.text.data, expected, strlen(expected)) != 0)
        return hc_host_say(HC_HOST_FAIL, row, "what a program printed did not come out");
    (void)hc_host_say(HC_HOST_OK, row, "ran on the tree '%s'", tree);
    list_layers(m, true, row);
    list_layers(m, false, row);
    return HC_HOST_OK;
}

enum hc_host_level hc_host_check_cell(struct hc_host *h, struct hc_host_row *row)
{
    char code[] = "print('hello')\n";
    const struct hc_job job = {.code = code, .code_len = strlen(code)};
    (void)snprintf(h->policy.tree, sizeof h->policy.tree, "%s", h->tree);
    struct hc_run run = {
        .job = &job,
        .policy = &h->policy,
        .pass_stdout = -1,
        .pass_stderr = -1,
        .cancel_fd = -1,
        .default_dir = "hotcell-output", /* never made, as no results are kept */
    };
    struct hc_manifest *m = calloc(1, sizeof *m);
    if (!m)
        return hc_host_say(HC_HOST_FAIL, row, "out of memory");
    struct hc_error err;
    enum hc_host_level level = hc_run(&run, m, &err) < 0 ? hc_host_say(HC_HOST_FAIL, row, "%s", err.text)
                                                         : check_outcome(m, h->tree, row);
    hc_manifest_finish(m);
    free(m);
    hc_run_finish(&run);
    return level;
}
