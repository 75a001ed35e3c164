/* hotcell tree show|diff|outdated|sbom - what trees hold, printed by a program in Python from their builders'
 * notes. */
#include "cli/tree.h"

#include "base/fd.h"
#include "base/state.h"
#include "cell/tree.h"
#include "cli/cli.h"
#include "policy/policy.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MOST_ENTRIES 256 /* most trees and layers that one call is about */

/* Arguments of the program, each owned. */
struct arguments {
    char *argv[MOST_ENTRIES + 8];
    size_t count; /* number of `argv` */
};

static int add(struct arguments *a, const char *text, struct hc_error *err)
{
    if (a->count + 1 == sizeof a->argv / sizeof *a->argv)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %d trees", MOST_ENTRIES);
    a->argv[a->count] = strdup(text);
    return a->argv[a->count++] ? 0 : hc_fail(err, ENOMEM, "trees");
}

/* Add "NAME=DIR" for a tree or a layer. `name` is what the user called it. */
static int add_entry(struct arguments *a, const struct hc_tree *t, const char *name, struct hc_error *err)
{
    char text[PATH_MAX + sizeof t->name + 2];
    (void)snprintf(text, sizeof text, "%s=%.*s", name, (int)(strrchr(t->path, '/') - t->path), t->path);
    return add(a, text, err);
}

/* Add a tree with its layers, or "+LAYER". */
static int add_named(struct arguments *a, const char *name, struct hc_error *err)
{
    struct hc_tree t;
    int rc = name[0] == HC_LAYER_SIGN ? hc_layer_open(&t, name + 1, err) : hc_tree_open(&t, name, err);
    if (rc < 0)
        return -1;
    rc = add_entry(a, &t, t.name, err);
    for (size_t i = 0; rc == 0 && i < t.layer_count; i++)
        rc = add_entry(a, &t.layers[i], t.layers[i].name, err);
    hc_tree_finish(&t);
    return rc;
}

/* Every tree that has a name, as the visitor of a store. */
struct all {
    struct arguments *a;
    struct hc_error *err; /* set by the first failure */
    int rc;               /* -1: one failed */
};

static void add_visited(void *ctx, const char *name, const char *id, const char *path)
{
    struct all *all = ctx;
    (void)id;
    (void)path;
    if (*name && all->rc == 0)
        all->rc = add_named(all->a, name, all->err);
}

static int start_and_wait(struct arguments *a, struct hc_error *err)
{
    pid_t pid;
    int status, rc = posix_spawn(&pid, HC_HOST_PYTHON, NULL, NULL, a->argv, environ);
    if (rc)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, rc, "start " HC_HOST_PYTHON);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return hc_fail(err, errno, "wait for " HC_HOST_PYTHON);
    return WIFEXITED(status) ? WEXITSTATUS(status)
                             : hc_fail(err, 0, "the program was ended by signal %d", WTERMSIG(status));
}

/* Fill the arguments, of which the first names an action. With `count` 0, all trees are meant. */
static int fill(struct arguments *a, const char *action, bool json, int count, char **names,
                struct hc_error *err)
{
    char dir[PATH_MAX], script[PATH_MAX + 16];
    if (hc_data_dir("rootfs", dir, err) < 0)
        return -1;
    (void)snprintf(script, sizeof script, "%s/about.py", dir);
    if (add(a, HC_HOST_PYTHON, err) < 0 || add(a, "-I", err) < 0 || add(a, script, err) < 0 ||
        add(a, action, err) < 0 || (json && add(a, "--json", err) < 0))
        return -1;
    for (int i = 0; i < count; i++)
        if (add_named(a, names[i], err) < 0)
            return -1;
    struct all all = {.a = a, .err = err};
    if (!count && hc_tree_each(HC_KIND_TREE, add_visited, &all, err) < 0)
        return -1;
    return all.rc;
}

/* Does the action named by argv[0] for at least `least` and at most `most` trees. */
static int tell(int argc, char **argv, int least, int most)
{
    bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
    int count = argc - 1 - json;
    char **names = argv + 1 + json;
    struct arguments a = {0};
    struct hc_error err;
    if (count < least || count > most)
        return hc_usage("tree", "%s: expected %s", argv[0],
                        least == 2   ? "two trees or two layers"
                        : least == 1 ? "a NAME or ID"
                                     : "fewer trees");
    for (int i = 0; i < count; i++)
        if (strncmp(names[i], "--", 2) == 0)
            return hc_usage("tree", "%s: unknown option '%s': expected --json first", argv[0], names[i]);
    int rc = fill(&a, argv[0], json, count, names, &err);
    if (rc == 0)
        rc = start_and_wait(&a, &err);
    for (size_t i = 0; i < a.count; i++)
        free(a.argv[i]);
    return rc < 0 ? hc_report(&err) : rc;
}

int hc_tree_show(int argc, char **argv)
{
    return tell(argc, argv, 1, MOST_ENTRIES);
}

/* A tree with layers is several entries, of which about.py compares only two. */
int hc_tree_diff(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (*argv[i] && strchr(argv[i] + 1, HC_LAYER_SIGN))
            return hc_usage("tree", "diff: '%s' has layers: expected two trees or two layers", argv[i]);
    return tell(argc, argv, 2, 2);
}

int hc_tree_outdated(int argc, char **argv)
{
    return tell(argc, argv, 0, MOST_ENTRIES);
}

int hc_tree_sbom(int argc, char **argv)
{
    return tell(argc, argv, 1, 1);
}
