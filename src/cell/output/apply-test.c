/* What becomes of a commit if somebody exchanges files between its check and its changes. */
#include "cell/workspace.h"

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

struct place {
    char path[64];
    int host_fd, kept_fd; /* the directory; new contents; owned */
    struct hc_changes *changes;
    struct hc_applying applying;
    char path_said[PATH_MAX], why_said[256]; /* path and reason of the last conflict */
    struct hc_error err;
};

static void note(void *ctx, const char *path, const char *why)
{
    struct place *p = ctx;
    (void)snprintf(p->path_said, sizeof p->path_said, "%s", path);
    (void)snprintf(p->why_said, sizeof p->why_said, "%s", why);
}

static int open_new(const struct place *p, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", p->path, name);
    assert_int_equal(mkdir(path, 0700), 0);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int make_place(void **state)
{
    char home[128];
    struct place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    (void)snprintf(p->path, sizeof p->path, "/tmp/hotcell-apply-XXXXXX");
    assert_non_null(mkdtemp(p->path));
    (void)snprintf(home, sizeof home, "%s/state", p->path);
    assert_int_equal(setenv("HOTCELL_STATE", home, 1), 0);
    p->host_fd = open_new(p, "host");
    p->kept_fd = open_new(p, "kept");
    p->changes = calloc(1, sizeof *p->changes);
    assert_non_null(p->changes);
    p->applying = (struct hc_applying){
        .host_fd = p->host_fd, .kept_fd = p->kept_fd, .of = p->changes, .conflict = note, .ctx = p};
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    hc_applying_finish(&p->applying);
    hc_changes_free(p->changes);
    hc_close_fd(&p->host_fd);
    hc_close_fd(&p->kept_fd);
    hc_autofd tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(hc_workspace_remove(tmp, p->path + strlen("/tmp/"), &p->err), 0);
    free(p);
    return 0;
}

static struct hc_entry_state write_file(int dir, const char *name, const char *text, mode_t mode)
{
    struct hc_error err;
    struct hc_entry_state s = {.kind = HC_KIND_FILE, .mode = mode, .bytes = (int64_t)strlen(text)};
    hc_autofd fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(hc_write_all(fd, text, strlen(text), &err), 0);
    assert_int_equal(fchmod(fd, mode), 0);
    hc_sha256_hex(text, strlen(text), s.sha256);
    return s;
}

static void add(struct place *p, const char *path, enum hc_change_kind change,
                const struct hc_entry_state *was, const struct hc_entry_state *now)
{
    assert_int_equal(hc_changes_add(p->changes, path, change, was, now, &p->err), 0);
}

static void check(struct place *p)
{
    hc_changes_sort(p->changes);
    assert_int_equal(hc_workspace_check(&p->applying, &p->err), 0);
    assert_int_equal(p->applying.conflicts, 0);
}

static void apply_with_conflict(struct place *p, const char *path)
{
    assert_int_equal(hc_workspace_apply(&p->applying, &p->err), 0);
    assert_int_equal(p->applying.conflicts, 1);
    assert_string_equal(p->path_said, path);
    assert_non_null(strstr(p->why_said, "somebody changed it just now"));
}

static mode_t mode_of(const struct place *p, const char *name)
{
    struct stat st;
    return fstatat(p->host_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode & 07777;
}

static void a_mode_is_not_set_of_another_file_with_the_name(void **state)
{
    struct place *p = *state;
    struct hc_entry_state was = write_file(p->host_fd, "x", "text", 0600), now = was;
    now.mode = 0666;
    add(p, "x", HC_MODE, &was, &now);
    check(p);
    (void)write_file(p->host_fd, "secret", "secret", 0600);
    assert_int_equal(renameat(p->host_fd, "secret", p->host_fd, "x"), 0);
    apply_with_conflict(p, "x");
    assert_int_equal(mode_of(p, "x"), 0600);
}

static void a_mode_is_not_set_of_another_directory_with_the_name(void **state)
{
    struct place *p = *state;
    const struct hc_entry_state was = {.kind = HC_KIND_DIRECTORY, .mode = 0700},
                                now = {.kind = HC_KIND_DIRECTORY, .mode = 0777};
    assert_int_equal(mkdirat(p->host_fd, "d", 0700), 0);
    assert_int_equal(mkdirat(p->host_fd, "added", 0700), 0);
    assert_int_equal(mkdirat(p->host_fd, "private", 0700), 0);
    add(p, "d", HC_MODE, &was, &now);
    add(p, "added", HC_ADDED, NULL, &now);
    check(p);
    assert_int_equal(renameat(p->host_fd, "d", p->host_fd, "aside"), 0);
    assert_int_equal(renameat(p->host_fd, "private", p->host_fd, "d"), 0);
    apply_with_conflict(p, "d");
    assert_int_equal(mode_of(p, "d"), 0700);
    check(p);
    assert_int_equal(renameat(p->host_fd, "added", p->host_fd, "aside2"), 0);
    assert_int_equal(mkdirat(p->host_fd, "added", 0700), 0);
    apply_with_conflict(p, "added");
    assert_int_equal(mode_of(p, "added"), 0700);
}

static void new_directories_get_their_modes_and_what_is_in_them(void **state)
{
    struct place *p = *state;
    const struct hc_entry_state dir = {.kind = HC_KIND_DIRECTORY, .mode = 0750};
    assert_int_equal(mkdirat(p->kept_fd, "new", 0700), 0);
    const struct hc_entry_state file = write_file(p->kept_fd, "new/file", "text", 0640);
    assert_int_equal(fchmod(p->host_fd, 02755), 0);
    add(p, "new", HC_ADDED, NULL, &dir);
    add(p, "new/file", HC_ADDED, NULL, &file);
    add(p, "new/below", HC_ADDED, NULL, &dir);
    check(p);
    assert_int_equal(hc_workspace_apply(&p->applying, &p->err), 0);
    assert_int_equal(p->applying.conflicts, 0);
    assert_int_equal(mode_of(p, "new"), 02750);
    assert_int_equal(mode_of(p, "new/below"), 02750);
    assert_int_equal(mode_of(p, "new/file"), 0640);
}

/* Another user renames a directory of the caller's, and the program has put in it what it knows of markers.
 */
static void no_directory_is_removed_for_its_name(void **state)
{
    struct place *p = *state;
    const struct hc_entry_state now = write_file(p->kept_fd, "new", "text", 0644);
    assert_int_equal(mkdirat(p->host_fd, "build", 0700), 0);
    (void)write_file(p->host_fd, "build/0", "mine", 0600);
    (void)write_file(p->host_fd, "build/.made-", "", 0600);
    add(p, "new", HC_ADDED, NULL, &now);
    check(p);
    assert_int_equal(renameat(p->host_fd, "build", p->host_fd, ".hotcell-commit-9"), 0);
    assert_int_equal(hc_workspace_apply(&p->applying, &p->err), 0);
    assert_int_equal(p->applying.conflicts, 0);
    assert_int_equal(mode_of(p, "new"), 0644);
    assert_int_equal(mode_of(p, ".hotcell-commit-9/0"), 0600);
}

/* A directory has taken the name of a file that is to be removed. */
static void what_is_not_what_was_checked_is_put_back(void **state)
{
    struct place *p = *state;
    const struct hc_entry_state was = write_file(p->host_fd, "x", "text", 0600);
    add(p, "x", HC_REMOVED, &was, NULL);
    check(p);
    assert_int_equal(renameat(p->host_fd, "x", p->host_fd, "aside"), 0);
    assert_int_equal(mkdirat(p->host_fd, "x", 0700), 0);
    (void)write_file(p->host_fd, "x/theirs", "theirs", 0600);
    apply_with_conflict(p, "x");
    assert_int_equal(mode_of(p, "x/theirs"), 0600);
}

/* What a commit leaves that was killed, or came to its end, is nothing that another commit stumbles over. */
static void commit_again(struct place *p, size_t applied)
{
    p->applying.applied = p->applying.already = 0;
    check(p);
    assert_int_equal(hc_workspace_apply(&p->applying, &p->err), 0);
    assert_int_equal(p->applying.conflicts, 0);
    assert_int_equal(p->applying.applied, applied);
    assert_int_equal(p->applying.already, p->changes->count - applied);
}

static void a_commit_that_made_a_directory_of_a_file_can_be_repeated(void **state)
{
    struct place *p = *state;
    const struct hc_entry_state dir = {.kind = HC_KIND_DIRECTORY, .mode = 0750};
    const struct hc_entry_state was = write_file(p->host_fd, "x", "text", 0600);
    assert_int_equal(mkdirat(p->kept_fd, "x", 0700), 0);
    const struct hc_entry_state file = write_file(p->kept_fd, "x/file", "text", 0640);
    add(p, "x", HC_REMOVED, &was, NULL);
    add(p, "x", HC_ADDED, NULL, &dir);
    add(p, "x/file", HC_ADDED, NULL, &file);
    assert_int_equal(unlinkat(p->host_fd, "x", 0), 0);
    assert_int_equal(mkdirat(p->host_fd, "x", 0700), 0); /* a commit was killed here */
    commit_again(p, 2);
    assert_int_equal(mode_of(p, "x"), 0750);
    assert_int_equal(mode_of(p, "x/file"), 0640);
    commit_again(p, 0);
}

static void a_commit_that_made_a_file_of_a_directory_can_be_repeated(void **state)
{
    struct place *p = *state;
    const struct hc_entry_state dir = {.kind = HC_KIND_DIRECTORY, .mode = 0700};
    assert_int_equal(mkdirat(p->host_fd, "x", 0700), 0);
    const struct hc_entry_state was = write_file(p->host_fd, "x/file", "text", 0640);
    const struct hc_entry_state now = write_file(p->kept_fd, "x", "new", 0600);
    add(p, "x/file", HC_REMOVED, &was, NULL);
    add(p, "x", HC_REMOVED, &dir, NULL);
    add(p, "x", HC_ADDED, NULL, &now);
    assert_int_equal(unlinkat(p->host_fd, "x/file", 0), 0);
    assert_int_equal(unlinkat(p->host_fd, "x", AT_REMOVEDIR), 0); /* a commit was killed here */
    commit_again(p, 1);
    assert_int_equal(mode_of(p, "x"), 0600);
    commit_again(p, 0);
}

/* Not all that has the name of what was removed is what the program left there. */
static void somebody_elses_file_is_no_repeated_commit(void **state)
{
    struct place *p = *state;
    const struct hc_entry_state dir = {.kind = HC_KIND_DIRECTORY, .mode = 0700};
    const struct hc_entry_state now = write_file(p->kept_fd, "x", "new", 0600);
    (void)write_file(p->host_fd, "x", "old", 0600);
    add(p, "x", HC_REMOVED, &dir, NULL);
    add(p, "x", HC_ADDED, NULL, &now);
    hc_changes_sort(p->changes);
    assert_int_equal(hc_workspace_check(&p->applying, &p->err), 0);
    assert_int_equal(p->applying.conflicts, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_mode_is_not_set_of_another_file_with_the_name),
        TEST(a_mode_is_not_set_of_another_directory_with_the_name),
        TEST(no_directory_is_removed_for_its_name),
        TEST(what_is_not_what_was_checked_is_put_back),
        TEST(new_directories_get_their_modes_and_what_is_in_them),
        TEST(a_commit_that_made_a_directory_of_a_file_can_be_repeated),
        TEST(a_commit_that_made_a_file_of_a_directory_can_be_repeated),
        TEST(somebody_elses_file_is_no_repeated_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
