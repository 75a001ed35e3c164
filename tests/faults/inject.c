/* inject - run a command and make one system call of one of its processes fail, or kill the process there.
 *
 *   inject [-p PROCESS] [-l FILE] [-c CALL -n N {-e ERRNO | -k}] COMMAND [ARGUMENT]...
 *
 * PROCESS 0 is the command itself, 1 the first process that it or its children start, and so on. The Nth CALL
 * (a name) of that process fails with ERRNO (a number) and is not made, or the process is killed with SIGKILL
 * before it. With -l every call of the process is noted in FILE, one name a line. The command's own calls
 * count from its first look at standard input: what the dynamic loader does before is not its doing. Ends as
 * the command ends.
 *
 * strace does most of this, but with all processes or with the first alone, and this with any one of them. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES 256
#define OPTIONS       (PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)
#define FOLLOW        (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE)

struct plan {
    int process, call, nth, error;
    bool kill;
    FILE *list;
    pid_t command;
};

struct victim {
    pid_t pid; /* 0: not started yet */
    bool counting, failing;
    int seen;
};

static _Noreturn void die(const char *what)
{
    perror(what);
    _exit(125);
}

#if defined(__x86_64__)
static void skip_call(pid_t pid)
{
    struct user_regs_struct regs;
    struct iovec iov = {&regs, sizeof regs};
    if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov) < 0)
        die("inject: read registers");
    regs.orig_rax = ~0ULL;
    if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &iov) < 0)
        die("inject: write registers");
}

static void set_result(struct user_regs_struct *regs, long value)
{
    regs->rax = (unsigned long long)value;
}
#elif defined(__aarch64__)
static void skip_call(pid_t pid)
{
    int none = -1;
    struct iovec iov = {&none, sizeof none};
    if (ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &iov) < 0)
        die("inject: skip the call");
}

static void set_result(struct user_regs_struct *regs, long value)
{
    regs->regs[0] = (unsigned long long)value;
}
#else
#error "hotcell knows x86-64 and arm64"
#endif

static void fail_call(pid_t pid, int error)
{
    struct user_regs_struct regs;
    struct iovec iov = {&regs, sizeof regs};
    if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov) < 0)
        die("inject: read registers");
    set_result(&regs, -(long)error);
    if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &iov) < 0)
        die("inject: write registers");
}

/* What a program of ours does first: before it are the kernel's and the loader's calls. */
static bool looks_at_standard_input(const struct __ptrace_syscall_info *info)
{
    return info->entry.nr == SCMP_SYS(fcntl) && info->entry.args[0] == STDIN_FILENO &&
           info->entry.args[1] == F_GETFD;
}

static void note(FILE *list, long call)
{
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)call);
    (void)fprintf(list, "%s\n", name ? name : "unknown");
    (void)fflush(list);
    free(name);
}

static void on_entry(const struct plan *plan, struct victim *v, const struct __ptrace_syscall_info *info)
{
    long call = (long)info->entry.nr;
    if (!v->counting)
        v->counting = looks_at_standard_input(info);
    if (!v->counting)
        return;
    if (plan->list)
        note(plan->list, call);
    if (call != plan->call || ++v->seen != plan->nth)
        return;
    if (plan->kill) {
        (void)kill(v->pid, SIGKILL);
        return;
    }
    skip_call(v->pid);
    v->failing = true;
}

static void on_call(const struct plan *plan, struct victim *v)
{
    struct __ptrace_syscall_info info = {0};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, v->pid, sizeof info, &info) < 0)
        return; /* killed meanwhile */
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
        on_entry(plan, v, &info);
    else if (info.op == PTRACE_SYSCALL_INFO_EXIT && v->failing) {
        fail_call(v->pid, plan->error);
        v->failing = false;
    }
}

static _Noreturn void end_as(int status)
{
    if (!WIFSIGNALED(status))
        _exit(WEXITSTATUS(status));
    (void)signal(WTERMSIG(status), SIG_DFL);
    (void)raise(WTERMSIG(status));
    _exit(125);
}

/* The kernel does not let a traced first process of a pid namespace die of what it did itself: it would do it
 * again and again. Untraced, it dies. */
static bool would_be_fatal(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGABRT;
}

/* Signals that stop a new process, and those of an exec, are ours; all others are for the process. */
static int signal_for(int status, bool is_new)
{
    int number = WSTOPSIG(status);
    return is_new || status >> 16 || number == SIGTRAP ? 0 : number;
}

static _Noreturn void watch(const struct plan *plan)
{
    static pid_t known[MAX_PROCESSES];
    struct victim v = {.pid = plan->process == 0 ? plan->command : 0};
    int count = 1, status;
    known[0] = plan->command;
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0)
            die("inject: waitpid");
        if (!WIFSTOPPED(status)) {
            if (pid == plan->command)
                end_as(status);
            continue;
        }
        int at = 0;
        while (at < count && known[at] != pid)
            at++;
        bool is_new = at == count;
        if (is_new && count < MAX_PROCESSES) {
            known[count++] = pid;
            if (at == plan->process)
                v = (struct victim){.pid = pid, .counting = true};
        }
        bool call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        if (call && pid == v.pid)
            on_call(plan, &v);
        int number = call ? 0 : signal_for(status, is_new);
        if (plan->process == 1 && pid == v.pid && would_be_fatal(number))
            (void)kill(pid, SIGKILL);
        (void)ptrace(pid == v.pid ? PTRACE_SYSCALL : PTRACE_CONT, pid, 0, number);
    }
}

int main(int argc, char **argv)
{
    struct plan plan = {.call = __NR_SCMP_ERROR};
    for (int option; (option = getopt(argc, argv, "+p:l:c:n:e:k")) != -1;)
        switch (option) {
        case 'p':
            plan.process = atoi(optarg);
            break;
        case 'l':
            plan.list = fopen(optarg, "we");
            if (!plan.list)
                die(optarg);
            break;
        case 'c':
            plan.call = seccomp_syscall_resolve_name(optarg);
            break;
        case 'n':
            plan.nth = atoi(optarg);
            break;
        case 'e':
            plan.error = atoi(optarg);
            break;
        case 'k':
            plan.kill = true;
            break;
        default:
            return 125;
        }
    plan.command = fork();
    if (plan.command == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
            die("inject: trace");
        (void)execv(argv[optind], argv + optind);
        die(argv[optind]);
    }
    int status;
    if (plan.command < 0 || waitpid(plan.command, &status, 0) < 0 || !WIFSTOPPED(status))
        die("inject: start");
    if (ptrace(PTRACE_SETOPTIONS, plan.command, 0, OPTIONS | (plan.process ? FOLLOW : 0)) < 0 ||
        ptrace(PTRACE_SYSCALL, plan.command, 0, 0) < 0)
        die("inject: trace");
    watch(&plan);
}
