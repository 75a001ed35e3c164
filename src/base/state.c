#include "base/state.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_STATE "/var/lib/hotcell" /* root's state directory */

static int format_path(char out[PATH_MAX], struct hc_error *err, const char *dir, const char *rest)
{
    int n = snprintf(out, PATH_MAX, "%s%s", dir, rest);
    return n < 0 || n >= PATH_MAX ? hc_fail(err, ENAMETOOLONG, "%s%s", dir, rest) : 0;
}

/* An XDG variable counts only if it is absolute (XDG Base Directory Specification). */
static const char *absolute_env(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] == '/' ? value : NULL;
}

int hc_state_dir(char out[PATH_MAX], struct hc_error *err)
{
    const char *dir = getenv("HOTCELL_STATE");
    if (dir && dir[0] == '/')
        return format_path(out, err, dir, "");
    if (dir && dir[0])
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "HOTCELL_STATE: expected an absolute path, got '%s'", dir);
    return hc_state_default_dir(out, err);
}

int hc_state_default_dir(char out[PATH_MAX], struct hc_error *err)
{
    const char *dir;
    if (geteuid() == 0)
        return format_path(out, err, SYSTEM_STATE, "");
    if ((dir = absolute_env("XDG_DATA_HOME")))
        return format_path(out, err, dir, "/hotcell");
    if ((dir = absolute_env("HOME")))
        return format_path(out, err, dir, "/.local/share/hotcell");
    return hc_fail_as(
        err, HC_EXIT_CONFIG, 0,
        "no place for files of this user: set HOTCELL_STATE, XDG_DATA_HOME or HOME to an absolute path");
}

int hc_daemon_socket(char out[PATH_MAX], struct hc_error *err)
{
    const char *dir;
    char state[PATH_MAX];
    if (geteuid() == 0)
        return format_path(out, err, "/run/hotcell/hotcelld.sock", "");
    if ((dir = absolute_env("XDG_RUNTIME_DIR")))
        return format_path(out, err, dir, "/hotcell/hotcelld.sock");
    if (hc_state_dir(state, err) < 0)
        return -1;
    return format_path(out, err, state, "/hotcelld.sock");
}

int hc_state_search(struct hc_states *out, struct hc_error *err)
{
    const char *only = getenv("HOTCELL_STATE");
    out->count = 0;
    if (hc_state_dir(out->dir[0], err) == 0)
        out->count = 1;
    else if (only && *only)
        return -1;
    if ((only && *only) || (out->count && strcmp(out->dir[0], SYSTEM_STATE) == 0))
        return 0;
    (void)snprintf(out->dir[out->count++], PATH_MAX,
                   SYSTEM_STATE); /* also for users without a state directory */
    return 0;
}

/* The directory of the running binary, without a trailing slash. */
static int binary_dir(char out[PATH_MAX], struct hc_error *err)
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    if (n < 0)
        return hc_fail(err, errno, "find the place of the running binary");
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    return 0;
}

static int first_that_exists(char out[PATH_MAX], const char *what, const char *const *candidates,
                             struct hc_error *err)
{
    char dir[PATH_MAX];
    if (binary_dir(dir, err) < 0)
        return -1;
    for (; *candidates; candidates++) {
        char rest[128];
        (void)snprintf(rest, sizeof rest, *candidates, what);
        if (format_path(out, err, dir, rest) < 0)
            return -1;
        if (access(out, F_OK) == 0)
            return 0;
    }
    return hc_fail(err, 0, "%s is not where hotcell is installed (looked from %s)", what, dir);
}

int hc_data_dir(const char *kind, char out[PATH_MAX], struct hc_error *err)
{
    /* build/hotcell and build/VARIANT/hotcell stand one and two levels below the sources. */
    static const char *const places[] = {"/../share/hotcell/%s", "/../%s", "/../../%s", NULL};
    return first_that_exists(out, kind, places, err);
}

int hc_program_path(const char *name, char out[PATH_MAX], struct hc_error *err)
{
    static const char *const places[] = {"/%s", "/../libexec/hotcell/%s", NULL};
    return first_that_exists(out, name, places, err);
}

const char *const hc_python_abis[] = {"3.11", "3.12", "3.13", NULL};

int hc_shim_path(const char *abi, char out[PATH_MAX], struct hc_error *err)
{
    char name[32];
    struct hc_error missing;
    (void)snprintf(name, sizeof name, "hotcell-shim-%.8s", abi);
    if (hc_program_path(name, out, &missing) == 0)
        return 0;
    if (strcmp(abi, HC_PYTHON_ABI) == 0)
        return hc_program_path("hotcell-shim", out, err);
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                      "%s; it runs the programs of trees with Python %.8s: in hotcell's sources, 'make shims "
                      "PYTHONS=/path/to/python%.8s' and 'make install' put it there",
                      missing.text, abi, abi);
}
