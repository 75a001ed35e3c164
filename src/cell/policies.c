#include "cell/policies.h"

#include "base/fd.h"
#include "cell/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POLICY (1u << 20)

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
    /* One name for one file, or a circle would not be seen: "./a", "././a", "./././a". */
    bool resolved = from && realpath(path, real);
    return read_at(resolved ? real : path, text, file, err);
}

/* Empty or relative is as good as unset (XDG Base Directory Specification). */
static const char *absolute_env(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] == '/' ? value : NULL;
}

struct place {
    const char *dir; /* NULL: does not apply here */
    const char *below;
};

int hc_policies_read(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                     struct hc_error *err)
{
    (void)ctx;
    if (strchr(name, '/'))
        return read_path(name, from, text, file, err);
    char shipped[PATH_MAX], path[PATH_MAX];
    struct hc_error ignored;
    const char *xdg = absolute_env("XDG_CONFIG_HOME");
    const char *home = absolute_env("HOME");
    bool user = geteuid() != 0; /* root's policies do not come from wherever HOME points */
    const struct place places[] = {
        {getenv("HOTCELL_POLICIES"), ""},
        {user ? xdg : NULL, "/hotcell/policies"},
        {user && !xdg ? home : NULL, "/.config/hotcell/policies"},
        {"/etc/hotcell/policies", ""},
        {hc_data_dir("policies", shipped, &ignored) == 0 ? shipped : NULL, ""},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
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
