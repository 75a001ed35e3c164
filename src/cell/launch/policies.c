#include "cell/policies.h"

#include "base/fd.h"
#include "base/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POLICY (1u << 20) /* most bytes of a policy's file */

static int read_at(const char *path, struct hc_buf *text, char **file, struct hc_error *err)
{
    if (hc_read_file(AT_FDCWD, path, text, MAX_POLICY, err) < 0) {
        (void)hc_ctx(err, "policy");
        return hc_exit_as(err, HC_EXIT_CONFIG);
    }
    *file = strdup(path);
    return *file ? 0 : hc_fail(err, ENOMEM, "policy %s", path);
}

static int read_path(const char *name, const char *from, struct hc_buf *text, char **file,
                     struct hc_error *err)
{
    char path[PATH_MAX], real[PATH_MAX];
    const char *slash = from && name[0] != '/' ? strrchr(from, '/') : NULL;
    int dir_len = slash ? (int)(slash - from + 1) : 0;
    int n = snprintf(path, sizeof path, "%.*s%s", dir_len, slash ? from : "", name);
    if (n < 0 || n >= (int)sizeof path)
        return hc_fail_as(err, HC_EXIT_CONFIG, ENAMETOOLONG, "policy %s", name);
    /* Resolve each path, so that a file always has the same name. Else a cycle of "extends" would not be
     * noticed: "./a", "././a", "./././a". */
    bool resolved = from && realpath(path, real);
    return read_at(resolved ? real : path, text, file, err);
}

/* The variable's value; NULL if it is unset, empty or relative (XDG Base Directory Specification). */
static const char *absolute_env(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] == '/' ? value : NULL;
}

/* A directory in which policies are searched for: `dir` and then `below`. */
struct place {
    const char *dir;   /* absolute; NULL: the place does not exist for this user */
    const char *below; /* rest of the path; may be empty */
};

#define PLACES 5

/* The directories in which a policy is searched for, in this order. `shipped` is a buffer for one of their
 * paths. */
static void find_places(struct place places[PLACES], char shipped[PATH_MAX])
{
    struct hc_error ignored;
    const char *xdg = absolute_env("XDG_CONFIG_HOME");
    const char *home = absolute_env("HOME");
    bool user = geteuid() != 0; /* root takes no policies from a directory that HOME names */
    places[0] = (struct place){getenv("HOTCELL_POLICIES"), ""};
    places[1] = (struct place){user ? xdg : NULL, "/hotcell/policies"};
    places[2] = (struct place){user && !xdg ? home : NULL, "/.config/hotcell/policies"};
    places[3] = (struct place){"/etc/hotcell/policies", ""};
    places[4] = (struct place){hc_data_dir("policies", shipped, &ignored) == 0 ? shipped : NULL, ""};
}

int hc_policies_read(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                     struct hc_error *err)
{
    (void)ctx;
    if (strchr(name, '/'))
        return read_path(name, from, text, file, err);
    char shipped[PATH_MAX], path[PATH_MAX];
    struct place places[PLACES];
    find_places(places, shipped);
    for (size_t i = 0; i < PLACES; i++) {
        if (!places[i].dir || !*places[i].dir)
            continue;
        int n = snprintf(path, sizeof path, "%s%s/%s.json", places[i].dir, places[i].below, name);
        if (n > 0 && n < (int)sizeof path && access(path, F_OK) == 0)
            return read_at(path, text, file, err);
    }
    return hc_fail_as(
        err, HC_EXIT_CONFIG, 0,
        "there is no policy '%s' (looked for %s.json in HOTCELL_POLICIES, the user's configuration, "
        "/etc/hotcell/policies and the shipped ones; a path needs a slash)",
        name, name);
}

/* ---- names of all policies ---- */

struct names {
    char **list; /* ends with NULL once a name was added; owned */
    size_t count;
};

static int add_name(struct names *n, const char *file)
{
    size_t len = strlen(file), end = sizeof ".json" - 1;
    if (file[0] == '.' || len <= end || strcmp(file + len - end, ".json") != 0)
        return 0;
    for (size_t i = 0; i < n->count; i++)
        if (strlen(n->list[i]) == len - end && strncmp(n->list[i], file, len - end) == 0)
            return 0;
    char **grown = realloc(n->list, (n->count + 2) * sizeof *grown);
    if (!grown)
        return -1;
    n->list = grown;
    n->list[n->count] = strndup(file, len - end);
    if (!n->list[n->count])
        return -1;
    n->list[++n->count] = NULL;
    return 0;
}

/* Add the names of the policies in one place; a directory that is missing or unreadable has none. */
static int add_names(struct names *n, const struct place *place)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s%s", place->dir, place->below), rc = 0;
    DIR *dir = len > 0 && len < (int)sizeof path ? opendir(path) : NULL;
    if (!dir)
        return 0;
    for (const struct dirent *e; rc == 0 && (e = readdir(dir));)
        rc = add_name(n, e->d_name);
    (void)closedir(dir);
    return rc;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int hc_policies_list(char ***names, struct hc_error *err)
{
    char shipped[PATH_MAX];
    struct place places[PLACES];
    struct names n = {.list = calloc(1, sizeof *n.list)};
    int rc = n.list ? 0 : -1;
    find_places(places, shipped);
    for (size_t i = 0; rc == 0 && i < PLACES; i++)
        if (places[i].dir && *places[i].dir)
            rc = add_names(&n, &places[i]);
    *names = n.list;
    if (rc == 0) {
        qsort(n.list, n.count, sizeof *n.list, compare_names);
        return 0;
    }
    hc_policies_free(n.list);
    *names = NULL;
    return hc_fail(err, ENOMEM, "list policies");
}

void hc_policies_free(char **names)
{
    for (size_t i = 0; names && names[i]; i++)
        free(names[i]);
    free(names);
}
