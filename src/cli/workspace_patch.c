/* The difference of two files by diff(1), of which one is a guest's: what would control a terminal is
 * replaced. */
#include "cli/workspace.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define DIFF       "/usr/bin/diff"
#define MOST_PATCH ((size_t)1 << 20) /* most bytes of a file's patch that are printed */

static _Noreturn void become_diff(int old_fd, int new_fd, int out, const char *path)
{
    char old_name[32], new_name[32], old_label[PATH_MAX + 4], new_label[PATH_MAX + 4];
    (void)snprintf(old_name, sizeof old_name, "/proc/self/fd/%d", old_fd);
    (void)snprintf(new_name, sizeof new_name, "/proc/self/fd/%d", new_fd);
    (void)snprintf(old_label, sizeof old_label, "a/%s", path);
    (void)snprintf(new_label, sizeof new_label, "b/%s", path);
    if (dup2(out, STDOUT_FILENO) < 0 || (old_fd >= 0 && fcntl(old_fd, F_SETFD, 0) < 0) ||
        (new_fd >= 0 && fcntl(new_fd, F_SETFD, 0) < 0))
        _exit(127);
    (void)execl(DIFF, "diff", "-u", "--label", old_fd < 0 ? "/dev/null" : old_label, "--label",
                new_fd < 0 ? "/dev/null" : new_label, old_fd < 0 ? "/dev/null" : old_name,
                new_fd < 0 ? "/dev/null" : new_name, (char *)NULL);
    _exit(127);
}

/* Lines and tabs stay; what else is not to be seen becomes "?". */
static void print_lines(char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n\t");
        char end = text[len];
        text[len] = '\0';
        hc_plain_print(text);
        if (!end)
            return;
        (void)putchar(end);
        text += len + 1;
    }
}

static void print_patch(struct hc_buf *patch, bool whole)
{
    if (patch->len && memchr(patch->data, '\0', patch->len))
        (void)puts("(binary)");
    else if (patch->len)
        print_lines(patch->data);
    if (!whole)
        (void)puts("\n(the rest is left out)");
}

void hc_workspace_print_patch(int old_fd, int new_fd, const char *path)
{
    char label[PATH_MAX];
    int ends[2], status = 0;
    struct hc_error err;
    hc_autobuf patch = {0};
    hc_plain_ascii(label, sizeof label, path);
    (void)fflush(stdout);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        become_diff(old_fd, new_fd, ends[1], label);
    (void)close(ends[1]);
    bool whole = pid > 0 && hc_read_all(ends[0], &patch, MOST_PATCH, &err) == 0;
    (void)close(ends[0]); /* ends diff, if it still writes */
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) > 1))
        (void)printf("(no difference could be had of " DIFF ")\n");
    else
        print_patch(&patch, whole);
}
