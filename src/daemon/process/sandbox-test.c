/* What a process behind the walls can do, and what not any more. */
#include "daemon/process/sandbox.h"

#include "base/fd.h"
#include "base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int pair[2]; /* a connection that was there before */
static char path[] = "/tmp/hotcell-walls-XXXXXX";

/* Each makes a call that succeeds without walls, or fails otherwise than they make it fail; 0: it succeeds.
 */
static int result(long rc)
{
    return rc < 0 ? errno : 0;
}

static int execute(void)
{
    char *const none[] = {NULL};
    return result(execve("/nothing-there", none, none));
}
static int make_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return result(pid);
}
static int signal_parent(void)
{
    return result(kill(getppid(), 0));
}
static int own_signals_to_parent(void)
{
    return result(fcntl(pair[0], F_SETOWN, getppid()));
}
static int make_socket(void)
{
    return result(socket(AF_UNIX, SOCK_STREAM, 0));
}
static int look_into_parent(void)
{
    return result(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
}
static int open_to_write(void)
{
    return result(open(path, O_WRONLY | O_CLOEXEC));
}
static int truncate_it(void)
{
    return result(open(path, O_RDONLY | O_TRUNC | O_CLOEXEC));
}
static int make_file(void)
{
    return result(openat(AT_FDCWD, "/tmp/hotcell-walls-new", O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
}
static int remove_file(void)
{
    return result(unlink(path));
}
static int open_to_write_otherwise(void)
{
    struct open_how how = {.flags = O_WRONLY | O_CLOEXEC};
    return result(hc_openat2(AT_FDCWD, path, &how));
}
static int make_code(void)
{
    static _Alignas(65536) char page[65536];
    return result(mprotect(page, sizeof page, PROT_READ | PROT_EXEC));
}
static int load_another_filter(void)
{
    return result(prctl(PR_SET_SECCOMP, 2, 0, 0, 0));
}
static int new_namespace(void)
{
    return result(unshare(CLONE_NEWUSER));
}

static int read_file(void)
{
    return result(open(path, O_RDONLY | O_CLOEXEC));
}
static int get_memory(void)
{
    void *much = malloc((size_t)64 << 20);
    free(much);
    return much ? 0 : ENOMEM;
}
static int send_byte(void)
{
    char byte = 1;
    return result(send(pair[0], &byte, 1, MSG_NOSIGNAL));
}
static int keep_request(void)
{
    struct hc_error err;
    return hc_sealed_memfd("request", "{}", 2, &err) < 0 ? err.sys : 0;
}
static int make_pair(void)
{
    int fds[2];
    return result(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
}
static int make_datagram_pair(void)
{
    int fds[2];
    return result(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds));
}

static const struct {
    const char *what;
    int (*attempt)(void);
    int error;
} rows[] = {
    {"execute a program", execute, ENOSYS},
    {"make a process", make_process, ENOSYS},
    {"ask for another process", signal_parent, ENOSYS},
    {"have signals sent to another process", own_signals_to_parent, ENOSYS},
    {"make a socket", make_socket, ENOSYS},
    {"make sockets that send to others", make_datagram_pair, ENOSYS},
    {"read another process's memory", look_into_parent, ENOSYS},
    {"open a file to write", open_to_write, ENOSYS},
    {"empty a file", truncate_it, ENOSYS},
    {"make a file", make_file, ENOSYS},
    {"remove a file", remove_file, ENOSYS},
    {"make memory code", make_code, ENOSYS},
    {"change the filter", load_another_filter, ENOSYS},
    {"make a namespace", new_namespace, ENOSYS},
    {"read a file", read_file, 0},
    {"have memory", get_memory, 0},
    {"send on a connection", send_byte, 0},
    {"keep a request", keep_request, 0},
    {"make a channel for a worker", make_pair, 0},
    /* The filter does not see what this one asks for: Landlock does. */
    {"open a file to write, as the filter cannot see", open_to_write_otherwise, EACCES},
};

#define COUNT    (sizeof rows / sizeof *rows)
#define FILTERED (COUNT - 1) /* rows for which the filter is enough */

static int found[COUNT];

/* In a process of its own, which tells what each row came to. */
static void attempt_all(int out)
{
    struct hc_error err;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || hc_sandbox_enter(-1, &err) < 0)
        _exit(1);
    for (size_t i = 0; i < COUNT; i++)
        found[i] = rows[i].attempt();
    _exit(write(out, found, sizeof found) == sizeof found ? 0 : 2);
}

static int attempt(void **state)
{
    int pipe_fds[2], status;
    hc_autofd file = mkostemp(path, O_CLOEXEC);
    (void)state;
    assert_true(file >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 &&
                pipe2(pipe_fds, O_CLOEXEC) == 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        attempt_all(pipe_fds[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(status, 0);
    assert_int_equal(read(pipe_fds[0], found, sizeof found), sizeof found);
    return 0;
}

static void check_row(size_t i)
{
    if (found[i] != rows[i].error)
        fail_msg("%s: %s", rows[i].what, found[i] ? strerror(found[i]) : "works");
}

static void the_filter_holds_and_lets_through_what_is_needed(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILTERED; i++)
        check_row(i);
}

static void landlock_holds_what_the_filter_cannot_see(void **state)
{
    (void)state;
    if (hc_landlock_abi() < 1)
        skip();
    check_row(FILTERED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_filter_holds_and_lets_through_what_is_needed),
        cmocka_unit_test(landlock_holds_what_the_filter_cannot_see),
    };
    return cmocka_run_group_tests(tests, attempt, NULL);
}
