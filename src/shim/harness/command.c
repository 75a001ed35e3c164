#include "shim/harness/command.h"

#include "base/fd.h"
#include "json/json.h"
#include "wire/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_EXECUTABLE 126 /* exit statuses, as shells give them */
#define NOT_FOUND      127

#define FIRST_PRIVATE 3 /* descriptors from this one on are the harness's */

/* The arguments as execvp wants them, NULL-terminated; the array is the caller's, the texts are those of
 * `list`. NULL: out of memory. */
static char **vector_of(const cJSON *list)
{
    char **argv = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *argv);
    size_t count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (argv)
            argv[count++] = item->valuestring;
    }
    return argv;
}

/* Gives the child the signals that a program expects: Python ignores some, and exec keeps what is ignored. */
static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Begins in this directory of the cell; "": where the interpreter is. */
static void enter_workdir(const char *workdir)
{
    if (!*workdir || chdir(workdir) == 0)
        return;
    (void)dprintf(STDERR_FILENO, "hotcell: %s: %s (workdir)\n", workdir, strerror(errno));
    _exit(NOT_EXECUTABLE);
}

/* The child's part. */
static _Noreturn void execute(char *const argv[], const char *workdir)
{
    (void)setpgid(0, 0);
    enter_workdir(workdir);
    reset_signals();
    /* The program must not have the channel: it would speak for the harness. */
    (void)close_range(FIRST_PRIVATE, ~0U, 0);
    (void)execvp(argv[0], argv);
    bool missing = errno == ENOENT || errno == ENOTDIR;
    if (missing)
        (void)dprintf(STDERR_FILENO, "hotcell: %s: there is no such program in the tree\n", argv[0]);
    else
        (void)dprintf(
            STDERR_FILENO,
            "hotcell: %s: %s (commands.allow of the policy says what may be executed, and only files of the "
            "tree can be)\n",
            argv[0], strerror(errno));
    _exit(missing ? NOT_FOUND : NOT_EXECUTABLE);
}

/* Keeps the current exception, if it is the first, as that which ended the command, and clears it. */
static void note_exception(struct hc_outcome *out)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (!out->error_type) {
        out->error_type = hc_type_name(error);
        out->error_message = hc_safe_str(error);
        out->error_trace = PyUnicode_FromString("");
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    PyErr_Clear();
}

/* Waits for the child. A signal for the interpreter, such as that of the job's time, becomes an exception,
 * and then the command is asked to end. Returns its wait status, or -1. */
static int await_end(pid_t child, struct hc_outcome *out)
{
    int status;
    for (;;) {
        pid_t got = waitpid(child, &status, 0);
        if (got == child)
            return status;
        if (got < 0 && errno != EINTR)
            return -1;
        if (PyErr_CheckSignals() == 0)
            continue;
        note_exception(out);
        (void)kill(-child, SIGTERM);
    }
}

static int run(char *const argv[], const char *workdir, struct hc_outcome *out)
{
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        execute(argv, workdir);
    if (child < 0) {
        (void)dprintf(STDERR_FILENO, "hotcell: no process could be made for the command: %s (limits.pids)\n",
                      strerror(errno));
        return NOT_EXECUTABLE;
    }
    (void)setpgid(child, child);
    int status = await_end(child, out);
    if (status < 0)
        return HC_EXIT_GUEST;
    return WIFSIGNALED(status) ? HC_COMMAND_SIGNALED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Reads the arguments, whose texts are those of `json`; the caller frees both. NULL: there are none. */
static char **read_arguments(struct hc_json *json, const char *arguments)
{
    struct hc_error err;
    if (hc_json_parse(json, "command", arguments, strlen(arguments), &err) < 0) {
        (void)dprintf(STDERR_FILENO, "hotcell: %s\n", err.text);
        *json = (struct hc_json){0};
        return NULL;
    }
    return vector_of(json->root);
}

_Noreturn void hc_command_become(const char *arguments, const char *workdir)
{
    struct hc_json json;
    char **argv = read_arguments(&json, arguments);
    if (argv && argv[0])
        execute(argv, workdir);
    _exit(NOT_EXECUTABLE);
}

void hc_command_run(const char *arguments, const char *workdir, struct hc_outcome *out)
{
    struct hc_json json;
    *out = (struct hc_outcome){.status = NOT_EXECUTABLE};
    char **argv = read_arguments(&json, arguments);
    if (argv && argv[0])
        out->status = run(argv, workdir, out);
    free(argv);
    hc_json_finish(&json);
}
