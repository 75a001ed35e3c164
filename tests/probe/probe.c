/* probe - a hostile program in the shim's place, for tests.
 *
 * The launcher executes what stands beside it as hotcell-shim. Built as that, this program is the first
 * process of a cell, with all that the shim gets: the descriptors of enum hc_cell_fd and the handover with
 * both filters. It does what the job's code says, which is no Python but a script: one command a line, the
 * words after it its arguments. So each test can have its own kind of broken or taken-over shim. The table of
 * commands is at the end; channel.c and calls.c have the longer ones. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct probe probe = {.last = -1, .listener = -1};

static char *script; /* terminated; lines end with \n */
static char *next;   /* the line that comes next */

void say(const char *name, long long value)
{
    printf("{\"%s\": %lld}\n", name, value);
    fflush(stdout);
}

long long number(const char *word)
{
    if (!word)
        return 0;
    if (strcmp(word, "last") == 0)
        return probe.last;
    if (strcmp(word, "listener") == 0)
        return probe.listener;
    if (strcmp(word, "self") == 0)
        return getpid();
    return *word == '-' ? strtoll(word, NULL, 0) : (long long)strtoull(word, NULL, 0);
}

size_t unhex(const char *digits, unsigned char *out, size_t max)
{
    size_t n = 0;
    unsigned byte;
    for (; n < max && sscanf(digits, "%2x", &byte) == 1; digits += 2)
        out[n++] = (unsigned char)byte;
    return n;
}

/* ---- processes ---- */

static void go_to(const char *label)
{
    char *line = script;
    size_t len = strlen(label);
    while (line) {
        if (strncmp(line, "label ", 6) == 0 && strncmp(line + 6, label, len) == 0 &&
            (line[6 + len] == '\n' || !line[6 + len])) {
            next = strchr(line, '\n');
            next = next ? next + 1 : NULL;
            return;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    fprintf(stderr, "probe: no label %s\n", label);
    _exit(99);
}

/* As the real shim: the child goes on as the interpreter, its parent waits and reports how it ended. */
static void do_shim(char *args)
{
    (void)args;
    pid_t child = fork();
    if (child == 0) {
        close(HC_FD_STATUS);
        return;
    }
    siginfo_t end = {0};
    while (waitid(P_PID, (id_t)child, &end, WEXITED) < 0 && errno == EINTR)
        ;
    struct hc_exit_report report = {.code = end.si_code, .status = end.si_status};
    (void)send(HC_FD_STATUS, &report, sizeof report, MSG_NOSIGNAL | MSG_DONTWAIT);
    _exit(0);
}

static void do_fork(char *args)
{
    pid_t child = fork();
    if (child < 0)
        say("fork", -errno);
    else if (child == 0)
        go_to(args);
}

static void do_daemon(char *args)
{
    pid_t child = fork();
    if (child > 0) {
        waitpid(child, NULL, 0);
        return;
    }
    setsid();
    if (fork() != 0)
        _exit(0);
    go_to(args);
}

static void do_wait(char *args)
{
    (void)args;
    int status = 0;
    pid_t pid;
    do
        pid = waitpid(-1, &status, 0);
    while (pid < 0 && errno == EINTR);
    say("wait", pid < 0 ? -errno : status);
}

static void do_exec(char *args)
{
    char *argv[] = {(char[]){"again"}, args, NULL}, *env[] = {NULL};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH);
    say("exec", -errno);
}

static void do_sleep(char *args)
{
    long long ms = number(args);
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

static void do_spin(char *args)
{
    (void)args;
    for (;;)
        __asm__ volatile("");
}

static void do_exit(char *args)
{
    _exit((int)number(args));
}

/* From a fault where there is one: the first process of a namespace takes no signal from itself. */
static void do_die(char *args)
{
    (void)raise((int)number(args));
    say("alive", 1);
}

static void do_fault(char *args)
{
    (void)args;
    __builtin_trap();
}

static void do_goto(char *args)
{
    go_to(args);
}

static void do_label(char *args)
{
    (void)args;
}

/* ---- descriptors and files ---- */

static void do_open(char *args)
{
    char *rest = NULL, *path = strtok_r(args, " ", &rest), *flags = strtok_r(NULL, " ", &rest);
    int fd = open(path ? path : "", flags ? (int)number(flags) : O_RDONLY, 0644);
    say("open", fd < 0 ? -errno : 0);
    if (fd >= 0)
        probe.last = fd;
}

static void do_socketpair(char *args)
{
    (void)args;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
        probe.last = pair[0];
}

static void do_close(char *args)
{
    close((int)number(args));
}

static void do_dup(char *args)
{
    char *rest = NULL;
    int from = (int)number(strtok_r(args, " ", &rest)), to = (int)number(strtok_r(NULL, " ", &rest));
    dup2(from, to);
}

static void do_shutdown(char *args)
{
    shutdown((int)number(args), SHUT_RDWR);
}

/* PATH BYTES, until it fails; says how many bytes that were. */
static void do_fill(char *args)
{
    static const char block[65536];
    char *rest = NULL, *path = strtok_r(args, " ", &rest);
    long long most = number(strtok_r(NULL, " ", &rest)), done = 0;
    signal(SIGXFSZ, SIG_IGN);
    int fd = open(path ? path : "", O_WRONLY | O_CREAT, 0644);
    ssize_t n = 0;
    while (fd >= 0 && done < most && (n = write(fd, block, sizeof block)) > 0)
        done += n;
    say("fill", done);
    close(fd);
}

/* DIRECTORY COUNT: empty files, until it fails; says how many. */
static void do_files(char *args)
{
    char *rest = NULL, *folder = strtok_r(args, " ", &rest), path[128];
    long long most = number(strtok_r(NULL, " ", &rest)), done = 0;
    for (; done < most; done++) {
        (void)snprintf(path, sizeof path, "%s/%lld", folder ? folder : "", done);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
        if (fd < 0)
            break;
        close(fd);
    }
    say("files", done);
}

static const char *kind_of(const struct stat *st)
{
    if (S_ISCHR(st->st_mode))
        return st->st_rdev == makedev(1, 3) ? "null" : "device";
    if (S_ISREG(st->st_mode))
        return "file";
    return S_ISFIFO(st->st_mode) ? "pipe" : S_ISSOCK(st->st_mode) ? "socket" : "other";
}

static void do_fds(char *args)
{
    (void)args;
    const char *before = "";
    printf("{\"fds\": {");
    for (int fd = 0; fd < 4096; fd++) {
        struct stat st;
        if (fstat(fd, &st) < 0)
            continue;
        printf("%s\"%d\": \"%s\"", before, fd, kind_of(&st));
        before = ", ";
    }
    printf("}}\n");
    fflush(stdout);
}

/* ---- output ---- */

static void do_print(char *args)
{
    printf("%s\n", args);
    fflush(stdout);
}

/* FD HEX */
static void do_write(char *args)
{
    static unsigned char data[65536];
    char *rest = NULL;
    int fd = (int)number(strtok_r(args, " ", &rest));
    (void)!write(fd, data, unhex(rest, data, sizeof data));
}

/* FD: for ever */
static void do_flood(char *args)
{
    static char block[65536];
    memset(block, 'x', sizeof block);
    int fd = (int)number(args);
    while (write(fd, block, sizeof block) > 0)
        ;
}

static void do_handover(char *args)
{
    (void)args;
    printf("{\"handover\": %.*s}\n", (int)probe.document_len, probe.document);
    fflush(stdout);
}

/* ---- the script ---- */

static void do_times(char *args);

static const struct command {
    const char *name;
    void (*run)(char *args);
} commands[] = {
    {"shim", do_shim},
    {"fork", do_fork},
    {"daemon", do_daemon},
    {"wait", do_wait},
    {"exec", do_exec},
    {"sleep", do_sleep},
    {"spin", do_spin},
    {"exit", do_exit},
    {"die", do_die},
    {"fault", do_fault},
    {"goto", do_goto},
    {"label", do_label},
    {"open", do_open},
    {"socketpair", do_socketpair},
    {"close", do_close},
    {"dup", do_dup},
    {"shutdown", do_shutdown},
    {"fill", do_fill},
    {"files", do_files},
    {"fds", do_fds},
    {"print", do_print},
    {"write", do_write},
    {"flood", do_flood},
    {"handover", do_handover},
    {"times", do_times},
    {"frame", do_frame},
    {"hex", do_hex},
    {"text", do_text},
    {"head", do_head},
    {"raw", do_raw},
    {"bytes", do_bytes},
    {"pass", do_pass},
    {"pass-many", do_pass_many},
    {"forge", do_forge},
    {"await", do_await},
    {"status", do_status},
    {"status-hex", do_status_hex},
    {"base", do_base},
    {"call", do_call},
    {"calls", do_calls},
    {"vary", do_vary},
    {"int80", do_int80},
    {"report", do_report},
    {"job", do_job},
    {"allow", do_allow},
    {"listen", do_listen},
};

static void run_line(char *line)
{
    size_t len = strcspn(line, " ");
    char *args = line[len] ? line + len + 1 : line + len;
    if (!len || *line == '#')
        return;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strlen(commands[i].name) != len || strncmp(commands[i].name, line, len) != 0)
            continue;
        char *own = strdup(args); /* commands cut their arguments up; a script may come to a line twice */
        commands[i].run(own);
        free(own);
        return;
    }
    fprintf(stderr, "probe: no command '%s'\n", line);
    _exit(99);
}

/* COUNT COMMAND... */
static void do_times(char *args)
{
    char *command;
    long count = strtol(args, &command, 0);
    for (; count > 0; count--)
        run_line(command + 1);
}

/* The string that begins here, in a JSON document: undo what the launcher's printer does. */
static char *json_string(const char *from, size_t len)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *out = malloc(len + 1), *to = out;
    for (const char *end = from + len; out && from < end && *from != '"'; from++) {
        if (*from != '\\') {
            *to++ = *from;
        } else if (*++from == 'u') {
            *to++ = (char)strtol((char[]){from[3], from[4], 0}, NULL, 16);
            from += 4;
        } else {
            const char *which = strchr(plain, *from);
            *to++ = which ? meant[which - plain] : *from;
        }
    }
    if (out)
        *to = '\0';
    return out;
}

static int read_handover(void)
{
    struct hc_handover_head head;
    struct stat st;
    if (fstat(HC_FD_HANDOVER, &st) < 0 || st.st_size < (off_t)sizeof head)
        return -1;
    char *all = malloc((size_t)st.st_size);
    if (!all || pread(HC_FD_HANDOVER, all, (size_t)st.st_size, 0) != st.st_size)
        return -1;
    memcpy(&head, all, sizeof head);
    probe.document = all + sizeof head;
    probe.document_len = head.json_len;
    probe.report = probe.document + head.json_len + head.first_len;
    probe.report_len = head.report_len;
    probe.own = probe.report + head.report_len;
    probe.own_len = head.job_len;
    static const char code[] = "{\"code\":\"";
    if (head.json_len < sizeof code || memcmp(probe.document, code, sizeof code - 1) != 0)
        return -1;
    script = json_string(probe.document + sizeof code - 1, head.json_len - (sizeof code - 1));
    return script ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (read_handover() < 0) {
        fprintf(stderr, "probe: no handover\n");
        return 98;
    }
    signal(SIGPIPE, SIG_IGN); /* of a launcher that has hung up */
    next = script;
    if (argc > 1)
        go_to(argv[1]);
    while (next && *next) {
        char *line = next, *end = strchr(line, '\n');
        size_t len = end ? (size_t)(end - line) : strlen(line);
        next = end ? end + 1 : NULL;
        char *own = strndup(line, len);
        run_line(own);
        free(own);
    }
    return 0;
}
