/* init.c as a program of its own, which pid 1 of a cell made by a zygote executes. It has no C library and no
 * dynamic linker, whose start would take longer than its whole work; the functions that init.c calls are
 * defined here. It is linked so that nothing in it has to be relocated (Makefile). */
#include "inside/plan.h"
#include "shim/init.h"
#include "wire/handover.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIGNAL_BYTES 8 /* bytes of a signal set in the kernel */

/* ---- the entry point: the kernel leaves on the stack the count of arguments, and then the arguments ---- */

#if defined(__x86_64__)

__asm__(".globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call hc_init_start\n");

static long call(long number, long a, long b, long c, long d, long e)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return number;
}

#elif defined(__aarch64__)

__asm__(".globl _start\n"
        "_start:\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    mov x0, sp\n"
        "    b hc_init_start\n");

static long call(long number, long a, long b, long c, long d, long e)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = 0;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

#else
#error "hotcell knows x86-64 and arm64"
#endif

/* ---- the functions of the C library that init.c calls ---- */

/* The macro errno calls it. NOLINTNEXTLINE(bugprone-reserved-identifier) */
int *__errno_location(void)
{
    static int last;
    return &last;
}

static long set_errno(long result)
{
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

static long address(const void *memory)
{
    return (long)memory;
}

void _exit(int status)
{
    for (;;)
        (void)call(SYS_exit_group, status, 0, 0, 0, 0);
}

int close(int fd)
{
    return (int)set_errno(call(SYS_close, fd, 0, 0, 0, 0));
}

ssize_t read(int fd, void *out, size_t size)
{
    return set_errno(call(SYS_read, fd, address(out), (long)size, 0, 0));
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
    return set_errno(call(SYS_sendto, fd, address(data), (long)len, flags, 0));
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    return (int)set_errno(
        call(SYS_ppoll, address(fds), (long)count, address(timeout), address(mask), SIGNAL_BYTES));
}

int waitid(idtype_t which, id_t id, siginfo_t *out, int options)
{
    return (int)set_errno(call(SYS_waitid, which, id, address(out), options, 0));
}

int getrusage(__rusage_who_t who, struct rusage *out)
{
    return (int)set_errno(call(SYS_getrusage, who, address(out), 0, 0, 0));
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    return (int)set_errno(call(SYS_signalfd4, fd, address(mask), SIGNAL_BYTES, flags, 0));
}

int sigemptyset(sigset_t *set)
{
    memset(set, 0, sizeof *set);
    return 0;
}

int sigaddset(sigset_t *set, int number)
{
    set->__val[0] |= 1UL << (number - 1); /* SIGCHLD fits into the first word */
    return 0;
}

/* Compilers generate calls of these two functions, and would turn a loop without volatile in one of them into
 * a call of the function itself. */
void *memset(void *to, int value, size_t len)
{
    for (volatile unsigned char *at_byte = to; len; len--)
        *at_byte++ = (unsigned char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
    const unsigned char *byte = from;
    for (volatile unsigned char *at_byte = to; len; len--)
        *at_byte++ = *byte++;
    return to;
}

/* ---- the program ---- */

static pid_t parse_pid(const char *text)
{
    pid_t number = 0;
    for (; *text >= '0' && *text <= '9' && number < 1 << 24; text++)
        number = number * 10 + (*text - '0');
    return number;
}

static void make_undumpable(void)
{
    static const char name[] = "hotcell-init";
    (void)call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)call(SYS_prctl, PR_SET_NAME, address(name), 0, 0, 0);
}

/* Takes the arguments that the shim takes from the zygote: HC_SHIM_INIT, the guest's pid, and HC_SHIM_SESSION
 * for a session. Without arguments it exits at once, which proves that the image can be executed. */
_Noreturn void hc_init_start(const long *stack);

_Noreturn void hc_init_start(const long *stack)
{
    char *const *argv = (char *const *)(stack + 1);
    make_undumpable();
    if (stack[0] < 3)
        _exit(HC_EXIT_OK);
    hc_init_run(parse_pid(argv[2]), HC_FD_STATUS, HC_FD_SYNC, stack[0] > 3);
}
