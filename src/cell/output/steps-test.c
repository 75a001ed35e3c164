/* Directories of sessions' steps: which are removed, which stay, and who holds the lock. Each test makes the
 * directories that jobs would have left. */
#include "cell/steps.h"

#include "base/fd.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char MANIFEST[] = "{\"version\": 1, \"job_id\": \"a\"}\n";

struct place {
    char path[64];
    struct hc_error err;
};

static void name_in(const struct place *p, const char *name, char out[static 256])
{
    (void)snprintf(out, 256, "%s/%s", p->path, name);
}

static void make_dir(const struct place *p, const char *name)
{
    char path[256];
    name_in(p, name, path);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void write_text(const struct place *p, const char *name, const char *text)
{
    char path[256];
    name_in(p, name, path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, false);
    assert_int_equal(fclose(file), 0);
}

static bool is_there(const struct place *p, const char *name)
{
    char path[256];
    struct stat st;
    name_in(p, name, path);
    return lstat(path, &st) == 0;
}

/* A step with results that last changed `second` seconds after 1970. */
static void make_step(const struct place *p, const char *name, long second)
{
    char inner[128], path[256];
    const struct timespec times[] = {{.tv_sec = second}, {.tv_sec = second}};
    make_dir(p, name);
    (void)snprintf(inner, sizeof inner, "%s/manifest.json", name);
    write_text(p, inner, MANIFEST);
    name_in(p, name, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    *state = p;
    if (!p)
        return -1;
    (void)snprintf(p->path, sizeof p->path, "/tmp/steps-XXXXXX");
    return mkdtemp(p->path) ? 0 : -1;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    hc_autofd top = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = hc_remove_results(top, p->path + strlen("/tmp/"), &p->err);
    free(p);
    return rc;
}

/* Cleans the session whose directory is the place itself, and returns what hc_session_clean does. */
static int clean(struct place *p, size_t keep, char *printed, size_t size)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    int gone = hc_session_clean(p->path, keep, out, &p->err);
    rewind(out);
    size_t n = fread(printed, 1, size - 1, out);
    printed[n] = '\0';
    (void)fclose(out);
    return gone;
}

static void the_newest_steps_stay(void **state)
{
    struct place *p = *state;
    char printed[1024], first[128];
    write_text(p, ".hotcell-session", "");
    make_step(p, "old", 100);
    make_step(p, "older", 50);
    make_step(p, "new", 200);
    assert_int_equal(clean(p, 1, printed, sizeof printed), 2);
    assert_true(is_there(p, "new") && !is_there(p, "old") && !is_there(p, "older"));
    (void)snprintf(first, sizeof first, "removed %s/old\n", p->path);
    assert_ptr_equal(strstr(printed, first), printed);
    assert_int_equal(clean(p, 1, printed, sizeof printed), 0);
}

static void steps_of_one_time_go_by_name(void **state)
{
    struct place *p = *state;
    char printed[1024];
    write_text(p, ".hotcell-session", "");
    make_step(p, "b", 100);
    make_step(p, "a", 100);
    assert_int_equal(clean(p, 1, printed, sizeof printed), 1);
    assert_true(is_there(p, "a") && !is_there(p, "b"));
}

static void a_directory_that_no_job_left_stays(void **state)
{
    struct place *p = *state;
    char printed[1024];
    write_text(p, ".hotcell-session", "");
    make_dir(p, "mine");
    write_text(p, "mine/notes.txt", "keep me\n");
    make_dir(p, "foreign");
    write_text(p, "foreign/manifest.json", "{\"version\": \"1\", \"job_id\": \"a\"}\n");
    make_dir(p, ".hidden");
    write_text(p, "file", "");
    assert_int_equal(clean(p, 0, printed, sizeof printed), 0);
    assert_true(is_there(p, "mine/notes.txt") && is_there(p, "foreign") && is_there(p, ".hidden"));
    make_dir(p, "empty"); /* of a step that has not begun */
    assert_int_equal(clean(p, 0, printed, sizeof printed), 1);
    assert_false(is_there(p, "empty"));
}

static void a_link_is_removed_and_not_followed(void **state)
{
    struct place *p = *state;
    char printed[1024], to[256], link[256];
    write_text(p, ".hotcell-session", "");
    make_dir(p, ".other");
    write_text(p, ".other/precious", "");
    make_step(p, "step", 100);
    name_in(p, ".other", to);
    name_in(p, "step/link", link);
    assert_int_equal(symlink(to, link), 0);
    name_in(p, "linked-step", link);
    assert_int_equal(symlink(to, link), 0);
    assert_int_equal(clean(p, 0, printed, sizeof printed), 1);
    assert_true(is_there(p, ".other/precious") && is_there(p, "linked-step") && !is_there(p, "step"));
}

static void a_tree_deeper_than_a_path_is_removed(void **state)
{
    struct place *p = *state;
    make_dir(p, "deep");
    char path[256];
    name_in(p, "deep", path);
    int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(mkdirat(at, "d", 0700), 0);
        int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        (void)close(at);
        at = next;
    }
    (void)close(at);
    hc_autofd dir = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(hc_remove_results(dir, "deep", &p->err), 0);
    assert_false(is_there(p, "deep"));
    assert_int_equal(hc_remove_results(dir, "deep", &p->err), 0); /* nothing there is fine */
}

static void one_step_runs_at_a_time(void **state)
{
    struct place *p = *state;
    char path[256], printed[64];
    hc_autofd first = hc_session_open(p->path, "s", false, &p->err);
    assert_true(first >= 0);
    assert_int_equal(hc_session_open(p->path, "s", false, &p->err), -1);
    assert_int_equal(p->err.exit, HC_EXIT_DATA);
    assert_non_null(strstr(p->err.text, "is in use"));
    name_in(p, "s", path);
    struct place session = {0};
    (void)snprintf(session.path, sizeof session.path, "%.60s", path);
    assert_int_equal(clean(&session, 0, printed, sizeof printed), -1);
    hc_close_fd(&first);
    first = hc_session_open(p->path, "s", false, &p->err);
    assert_true(first >= 0);
}

static void a_lock_that_is_no_plain_file_is_refused(void **state)
{
    struct place *p = *state;
    char path[256];
    make_dir(p, "s");
    name_in(p, "s/.hotcell-session", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(hc_session_open(p->path, "s", false, &p->err), -1);
    assert_non_null(strstr(p->err.text, "not a file of ours"));
}

static void what_is_no_session_is_not_cleaned(void **state)
{
    struct place *p = *state;
    char printed[64];
    make_step(p, "step", 100);
    assert_int_equal(clean(p, 0, printed, sizeof printed), -1);
    assert_int_equal(p->err.exit, HC_EXIT_DATA);
    assert_non_null(strstr(p->err.text, "is no session's directory"));
    assert_true(is_there(p, "step"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_newest_steps_stay),
        TEST(steps_of_one_time_go_by_name),
        TEST(a_directory_that_no_job_left_stays),
        TEST(a_link_is_removed_and_not_followed),
        TEST(a_tree_deeper_than_a_path_is_removed),
        TEST(one_step_runs_at_a_time),
        TEST(a_lock_that_is_no_plain_file_is_refused),
        TEST(what_is_no_session_is_not_cleaned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
