/* calls.c - system calls as numbers, and the filters that decide about them. */
#include "probe.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static long long base[6] = {-1, -1, -1, -1, -1, -1};
static char scratch[6][4096];

#if defined __x86_64__
/* In line, and a child ends here: one of vfork or clone may be on our stack. */
static long raw(long nr, const long long *a)
{
    long result;
    register long long r10 __asm__("r10") = a[3];
    register long long r8 __asm__("r8") = a[4];
    register long long r9 __asm__("r9") = a[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (result == 0 && (nr == SYS_fork || nr == SYS_vfork || nr == SYS_clone || nr == SYS_clone3))
        __asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
    return result;
}

void do_int80(char *args)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number(args)), "b"(0), "c"(0), "d"(0) : "memory");
    say("int80", result);
}
#else
static long raw(long nr, const long long *a)
{
    long result = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result == 0 && (nr == SYS_clone || nr == SYS_clone3))
        _exit(0);
    return result < 0 ? -errno : result;
}

void do_int80(char *args)
{
    (void)args;
    say("int80", -ENOSYS);
}
#endif

/* A call that is told to the launcher waits for its answer, and the alarm may be sooner. */
static long insist(long nr, const long long *a)
{
    long result = raw(nr, a);
#ifdef SYS_pause
    if (nr == SYS_pause)
        return result;
#endif
    for (int more = 100; result == -EINTR && more; more--)
        result = raw(nr, a);
    return result;
}

static void nothing(int number)
{
    (void)number;
}

/* Whatever waits is woken. */
static void set_alarm(long usec)
{
    struct sigaction wake = {.sa_handler = nothing};
    struct itimerval timer = {.it_interval = {.tv_usec = usec}, .it_value = {.tv_usec = usec}};
    sigaction(SIGALRM, &wake, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* s:TEXT and x:HEX are pointers to these bytes, buf to zeros. */
static long long argument(const char *word, size_t index)
{
    char *at = scratch[index];
    memset(at, 0, sizeof scratch[index]);
    if (strncmp(word, "s:", 2) == 0)
        (void)snprintf(at, sizeof scratch[index], "%s", word + 2);
    else if (strncmp(word, "x:", 2) == 0)
        (void)unhex(word + 2, (unsigned char *)at, sizeof scratch[index]);
    else if (strcmp(word, "buf") != 0)
        return number(word);
    return (long long)(intptr_t)at;
}

static void read_arguments(char **rest, long long *out)
{
    char *word;
    for (size_t i = 0; i < 6 && (word = strtok_r(NULL, " ", rest)); i++)
        out[i] = argument(word, i);
}

void do_base(char *args)
{
    char *word = strtok(args, " ");
    for (size_t i = 0; i < 6 && word; i++, word = strtok(NULL, " "))
        base[i] = argument(word, i);
}

void do_call(char *args)
{
    char *rest = NULL;
    long nr = (long)number(strtok_r(args, " ", &rest));
    long long a[6];
    memcpy(a, base, sizeof a);
    read_arguments(&rest, a);
    set_alarm(100000);
    long result = insist(nr, a);
    set_alarm(0);
    say("call", result);
}

#define URETPROBE 335 /* of x86-64; a trampoline of the kernel's: elsewhere it ends the process by SIGILL */

/* Those that do not come back, or not to where they were called. */
static int never_returns(long nr)
{
    return nr == SYS_exit || nr == SYS_exit_group || nr == SYS_rt_sigreturn || nr == URETPROBE;
}

/* A bad operation of futex is answered with ENOSYS, as the filter answers: ask it to wake nobody instead. */
static const long long *arguments_of(long nr, long long *own)
{
    if (nr != SYS_futex)
        return base;
    memcpy(own, base, sizeof base);
    own[0] = 1;
    own[1] = 1;
    return own;
}

static void reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

void do_calls(char *args)
{
    char *end;
    long from = strtol(args, &end, 0), to = strtol(end, NULL, 0);
    size_t size = (size_t)(to - from + 1) * 32 + 64, used = 0;
    char *out = malloc(size);
    if (!out)
        return;
    for (long nr = from; nr <= to; nr++) {
        long long own[6];
        if (never_returns(nr))
            continue;
        if (nr == SYS_setitimer || nr == SYS_alarm || nr == from)
            set_alarm(20000);
        long result = insist(nr, arguments_of(nr, own));
        used += (size_t)snprintf(out + used, size - used, "%s\"%ld\": %ld", used ? ", " : "", nr, result);
        set_alarm(20000);
        reap();
    }
    set_alarm(0);
    printf("{\"calls\": {%s}}\n", out);
    fflush(stdout);
    free(out);
}

void do_vary(char *args)
{
    char *rest = NULL, *word;
    long nr = (long)number(strtok_r(args, " ", &rest));
    long index = (long)number(strtok_r(NULL, " ", &rest));
    const char *before = "";
    printf("{\"vary\": {");
    set_alarm(50000);
    while ((word = strtok_r(NULL, " ", &rest))) {
        long long a[6];
        memcpy(a, base, sizeof a);
        a[index] = number(word);
        printf("%s\"%s\": %ld", before, word, insist(nr, a));
        before = ", ";
        reap();
    }
    set_alarm(0);
    printf("}}\n");
    fflush(stdout);
}

/* ---- filters ---- */

static long load(const void *filter, size_t len, unsigned flags)
{
    struct sock_fprog program = {.len = (unsigned short)(len / sizeof(struct sock_filter)),
                                 .filter = (struct sock_filter *)(uintptr_t)filter};
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    return result < 0 ? -errno : result;
}

void do_report(char *args)
{
    long fd = load(probe.report, probe.report_len, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    char frame[32];
    if (fd < 0) {
        say("report", fd);
        return;
    }
    probe.listener = (int)fd;
    if (strcmp(args, "silent") == 0)
        return;
    (void)snprintf(frame, sizeof frame, "%d %ld", HC_FRAME_FILTERED, fd);
    do_pass(frame);
    if (strcmp(args, "keep") != 0)
        close(probe.listener);
}

void do_job(char *args)
{
    (void)args;
    long result = load(probe.own, probe.own_len, 0);
    if (result < 0)
        say("job", result);
}

void do_allow(char *args)
{
    (void)args;
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    long result = load(&all, sizeof all, 0);
    if (result < 0)
        say("allow", result);
}

void do_listen(char *args)
{
    struct sock_filter one[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number(args), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    long fd = load(one, sizeof one, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (fd < 0)
        say("listen", fd);
    else
        probe.listener = (int)fd;
}
