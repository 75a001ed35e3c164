/* Which paths an argument of a tool may name, in a directory that is made for each run:
 * below "allowed", a file, a directory, and symbolic links that lead outside and inside. */
#include "cell/tools/tool_paths.h"

#include "base/fd.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/tool-paths-XXXXXX";

struct row {
    const char *value;   /* of the argument; '@' stands for the directory above "allowed" */
    const char *leads;   /* where it leads, from that directory; NULL: it is refused */
    const char *refusal; /* part of the message */
};

static const struct row ROWS[] = {
    {"@/allowed/file", "/allowed/file", NULL},
    {"@/allowed", "/allowed", NULL},
    {"@/allowed/", "/allowed", NULL},
    {"@/allowed/folder/../file", "/allowed/file", NULL},
    {"@//allowed/file", NULL, "expected a path below"}, /* not as it is written there */
    {"@/allowed/new", "/allowed/new", NULL},
    {"@/allowed/folder/new/", "/allowed/folder/new", NULL},
    {"~/file", "/allowed/file", NULL}, /* HOME is "allowed" */
    {"~", "/allowed", NULL},
    {"allowed/file", "/allowed/file", NULL}, /* from the working directory */
    {"@/other/file", NULL, "expected a path below"},
    {"@/allowedfile", NULL, "expected a path below"},
    {"~root/file", NULL, "expected a path below"},
    {"", NULL, "expected a path below"},
    {"@/allowed/../other/file", NULL, "it leaves"},
    {"@/allowed/out/file", NULL, "symbolic link"},
    {"@/allowed/in/file", NULL, "symbolic link"},
    {"@/allowed/missing/new", NULL, "cannot be reached"},
    {"@/allowed/missing/..", NULL, "cannot be reached"},
    {"@/alias/file", NULL, "expected a path below"}, /* a link to "allowed" that the policy does not name */
};

static int make_places(void **state)
{
    char path[PATH_MAX];
    (void)state;
    if (!mkdtemp(top) || chdir(top) < 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/allowed", top);
    bool made = mkdir("allowed", 0700) == 0 && mkdir("allowed/folder", 0700) == 0 &&
                mkdir("other", 0700) == 0 && symlink("../other", "allowed/out") == 0 &&
                symlink("folder", "allowed/in") == 0 && symlink("allowed", "alias") == 0 &&
                setenv("HOME", path, 1) == 0;
    hc_autofd file = open("allowed/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    hc_autofd other = open("other/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return made && file >= 0 && other >= 0 ? 0 : -1;
}

static int remove_places(void **state)
{
    static const char *const names[] = {"allowed/file", "allowed/out", "allowed/in", "allowed/folder",
                                        "allowed",      "alias",       "other/file", "other"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)remove(names[i]);
    return chdir("/") < 0 ? -1 : rmdir(top);
}

static void filled(char out[PATH_MAX], const char *value)
{
    (void)snprintf(out, PATH_MAX, "%s%s", *value == '@' ? top : "", value + (*value == '@'));
}

static void paths_lead_below_their_directory_or_are_refused(void **state)
{
    char below[PATH_MAX], value[PATH_MAX], leads[PATH_MAX];
    char *places[] = {below, NULL};
    const struct hc_tool_path path = {.below = places};
    (void)state;
    filled(below, "@/allowed");
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct row *r = &ROWS[i];
        struct hc_error err = {0};
        char *out = NULL;
        filled(value, r->value);
        (void)snprintf(leads, sizeof leads, "%s%s", top, r->leads ? r->leads : "");
        int rc = hc_tool_path_resolve(NULL, &path, value, &out, &err);
        bool right = r->leads ? rc == 0 && strcmp(out, leads) == 0 : rc < 0 && strstr(err.text, r->refusal);
        if (!right)
            fail_msg("%s: %s", r->value, rc == 0 ? out : err.text);
        free(out);
    }
}

/* The policy may name the directory by a link of the host's own, and a value may follow it there. */
static void a_directory_may_be_named_by_a_link(void **state)
{
    char below[PATH_MAX], value[PATH_MAX], leads[PATH_MAX], *out = NULL;
    char *places[] = {below, NULL};
    const struct hc_tool_path path = {.below = places};
    struct hc_error err;
    (void)state;
    filled(below, "@/alias");
    filled(value, "@/alias/file");
    filled(leads, "@/allowed/file");
    assert_int_equal(hc_tool_path_resolve(NULL, &path, value, &out, &err), 0);
    assert_string_equal(out, leads);
    free(out);
}

static void a_place_that_does_not_exist_holds_nothing(void **state)
{
    char below[PATH_MAX], value[PATH_MAX], *out = NULL;
    char *places[] = {below, NULL};
    const struct hc_tool_path path = {.below = places};
    struct hc_error err;
    (void)state;
    filled(below, "@/nowhere");
    filled(value, "@/nowhere/file");
    assert_int_equal(hc_tool_path_resolve(NULL, &path, value, &out, &err), -1);
    assert_int_equal(err.exit, HC_EXIT_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_below_their_directory_or_are_refused),
        cmocka_unit_test(a_directory_may_be_named_by_a_link),
        cmocka_unit_test(a_place_that_does_not_exist_holds_nothing),
    };
    return cmocka_run_group_tests_name("tool paths", tests, make_places, remove_places);
}
