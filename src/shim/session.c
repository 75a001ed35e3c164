/* session.c - the interpreter of a session: one run after another, in one namespace.
 *
 * Processes. Before each run the interpreter makes a copy of itself, which waits, and runs the program
 * itself; so open files and threads stay as they are. If the run ends the process, the copy takes over, and
 * knows nothing of the run. A copy is the child of a child that has ended, so that pid 1 is the parent of all
 * copies and tells the launcher how each of them ended.
 *
 * Rights. The filters let no process here fork or signal another, whether it is the guest's or ours; they ask
 * the launcher each time, which allows the two steps of a copy when it has ordered one. A copy that waits
 * runs no code of the guest, no finalizer and no handler: it holds the interpreter's lock, blocks all
 * signals, and is also kept stopped by the launcher. It becomes Python again only when it takes over.
 *
 * An earlier program may have changed this process in any way: no check in this file protects the host, and
 * the launcher believes none of this process's messages. */
#include "shim/cpython/cpython.h"

#include "shim/session.h"

#include "base/fd.h"
#include "shim/guard/guard.h"
#include "shim/harness/command.h"
#include "shim/harness/deadline.h"
#include "shim/harness/ending.h"
#include "shim/harness/feed.h"
#include "shim/harness/files.h"
#include "shim/harness/frozen.h"
#include "shim/harness/reject.h"
#include "shim/harness/results.h"
#include "shim/harness/tools.h"
#include "shim/harness/wire.h"
#include "policy/calls.h"
#include "shim/copyable.h"
#include "shim/openmp.h"
#include "shim/source.h"
#include "wire/handover.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#define MAX_ORDER     ((size_t)512 << 20) /* most bytes of the launcher's order for one run */
#define BETWEEN_STACK 65536               /* bytes of stack for be_between */

static bool begun; /* this process, or one that it is a copy of, was given a program to run */

/* The launcher's order for one run. */
struct order {
    int input;                   /* standard input of the run, owned; -1: none */
    struct hc_buf bytes;         /* the order as it was received; owned */
    struct hc_handover handover; /* points into `bytes` */
};

static _Noreturn void exit_with_error(const struct hc_error *err)
{
    (void)dprintf(STDERR_FILENO, "hotcell-shim: %s\n", err->text);
    _exit(HC_EXIT_INTERNAL);
}

static _Noreturn void fail_python(const char *doing)
{
    PyErr_Print();
    (void)dprintf(STDERR_FILENO, "hotcell-shim: %s\n", doing);
    _exit(HC_EXIT_INTERNAL);
}

static void send_empty_frame(enum hc_frame_type type)
{
    struct hc_error err;
    if (hc_wire_send(HC_FD_CONTROL, type, NULL, 0, &err) < 0)
        exit_with_error(&err);
}

/* ---- orders ---- */

static int read_order(struct order *o, struct hc_error *err)
{
    hc_autofd fd = hc_wire_await_next(HC_FD_CONTROL, &o->input, err);
    if (fd < 0 || hc_read_all(fd, &o->bytes, MAX_ORDER, err) < 0 ||
        hc_handover_split(&o->handover, o->bytes.data, o->bytes.len, err) < 0 ||
        hc_handover_parse(&o->handover, err) < 0)
        return hc_ctx(err, "next run");
    return 0;
}

static void order_finish(struct order *o)
{
    hc_close_fd(&o->input);
    hc_handover_finish(&o->handover);
    hc_buf_finish(&o->bytes);
}

/* ---- copies ---- */

/* The signals that wait_for_turn waits for, and which have to be blocked before. The kernel sends SIGHUP to
 * the program's process group, in which this process is, when a child's end orphans it: that signal must not
 * end the process later. */
static sigset_t turn_signals(void)
{
    sigset_t turn;
    (void)sigemptyset(&turn);
    (void)sigaddset(&turn, HC_SIGNAL_RESUME);
    (void)sigaddset(&turn, SIGHUP);
    return turn;
}

/* Waits for the launcher's signal that this process takes over. Other processes of the cell cannot send it.
 */
static void wait_for_turn(void)
{
    const sigset_t turn = turn_signals();
    while (sigwaitinfo(&turn, NULL) != HC_SIGNAL_RESUME)
        ;
}

/* As a copy: tells the launcher that it is there, and waits. */
static void wait_as_copy(void)
{
    while (getppid() != 1) /* the launcher recognises the copy by its parent, pid 1 */
        (void)sched_yield();
    send_empty_frame(HC_FRAME_KEPT);
    wait_for_turn();
}

/* Saves the state of the module random, which takes a new seed after a fork: the program's sequence of random
 * numbers must go on as if there had been no copy. */
static PyObject *random_state(void)
{
    PyObject *state = hc_frozen_call("hooks", "random_state", "()");
    PyErr_Clear();
    return state;
}

/* Prepares the interpreter after the fork. Before this no Python code may run: the lock may be promised to a
 * thread that waited for it when the copy was made, and which the copy does not have. */
static void become_python(PyObject *random)
{
    hc_fork_take_import_lock();
    PyOS_AfterFork_Child();
    hc_autopy *done = random ? hc_frozen_call("hooks", "restore_random", "(O)", random) : NULL;
    (void)done;
    PyErr_Clear();
}

/* Which process returns from make_copy: the one that was copied, at once, or the copy, when it takes over.
 * SIDE_NOT_COPIED: no copy could be made. */
enum side { SIDE_ORIGINAL, SIDE_COPY, SIDE_NOT_COPIED };

/* The process between the original and the copy; it works in the original's memory, on a stack of its own,
 * while the original's thread waits. `copy`: where the copy goes on, on the stack of make_copy. */
static int be_between(void *copy)
{
    pid_t pid = fork();
    if (pid == 0)
        siglongjmp(*(sigjmp_buf *)copy, 1);
    _exit(pid < 0 ? 1 : 0);
}

/* The first child makes the second and ends, so that the second becomes a child of pid 1. Only the second has
 * a memory of its own: copying the page tables of a large interpreter takes most of the time. */
static enum side fork_twice(void)
{
    static _Alignas(16) char stack[BETWEEN_STACK];
    int status = 0;
    sigjmp_buf copy;
    if (sigsetjmp(copy, 0)) {
        hc_renew_rseq();
        wait_as_copy();
        return SIDE_COPY;
    }
    pid_t between = clone(be_between, stack + sizeof stack, HC_BETWEEN_CLONE, &copy);
    while (between > 0 && waitpid(between, &status, 0) < 0)
        if (errno != EINTR)
            return SIDE_NOT_COPIED;
    return between > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? SIDE_ORIGINAL : SIDE_NOT_COPIED;
}

/* Makes a copy. SIGCHLD is set to its default meanwhile, so that the program's handler does not see our
 * child. */
static enum side make_copy(void)
{
    sigset_t all, before;
    struct sigaction theirs;
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    (void)fflush(NULL);
    hc_openmp_pause();
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    (void)sigaction(SIGCHLD, &plain, &theirs);
    enum side side = fork_twice();
    (void)sigaction(SIGCHLD, &theirs, NULL);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return side;
}

/* ---- one run ---- */

static void bind_variables(const struct order *o, PyObject *space)
{
    if (!o->handover.job.has_vars || o->handover.job.command)
        return;
    hc_autopy *vars =
        hc_frozen_call("data", "variables", "(y#)", o->handover.json.text, (Py_ssize_t)o->handover.json.len);
    if (!vars || PyDict_Update(space, vars) < 0)
        fail_python("set the run's variables");
}

/* Loads the inputs that came with the run. -1: one cannot be loaded, and the launcher was told so. */
static int bind_given(const struct order *o, PyObject *space, PyObject *columns)
{
    PyObject *values, *names, *why, *warnings; /* borrowed from `given` */
    if (!o->handover.job.has_given || o->handover.job.command)
        return 0; /* a command has the files, which the launcher has placed, and no variables */
    hc_autopy *read_npz = hc_frozen_function("values", "read_file");
    hc_autopy *given = read_npz ? hc_frozen_call("data", "given", "(y#O)", o->handover.json.text,
                                                 (Py_ssize_t)o->handover.json.len, read_npz)
                                : NULL;
    if (!given || !PyArg_ParseTuple(given, "OOOO", &values, &names, &why, &warnings))
        fail_python("load the run's inputs");
    if (why != Py_None) {
        struct hc_finding one;
        hc_rejection_finding(&(struct hc_rejection){.rule = "input", .message = why}, &one);
        hc_send_rejected(&(struct hc_findings){.items = &one, .count = 1});
        return -1;
    }
    if (PyDict_Update(space, values) < 0 || PyDict_Update(columns, names) < 0)
        fail_python("set the run's inputs");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(warnings); i++)
        hc_report_warn_of_input(PyList_GET_ITEM(warnings, i));
    return 0;
}

/* Gives the run its standard input and arguments. */
static void begin_feed(struct order *o)
{
    struct hc_error err;
    if (hc_feed_take(hc_take(&o->input), &err) < 0)
        exit_with_error(&err);
    if (hc_feed_begin(&o->handover.job, true) < 0)
        fail_python("set up the run's input");
}

/* Drops input that the run has not read: neither the next run nor threads that go on may get it. */
static void end_feed(const struct order *o)
{
    struct hc_error err;
    if (o->handover.job.has_stdin && hc_feed_end(&err) < 0)
        exit_with_error(&err);
}

/* Checks and compiles the program. -1: it was refused, and the launcher was told so. After the first run the
 * checker, another process, sends the findings, and the launcher ignores them from this one. */
static int compile_run(const struct order *o, struct hc_program *program, struct hc_findings *found)
{
    const struct hc_handover_job *job = &o->handover.job;
    *program = (struct hc_program){0};
    int rc = job->command ? 0 : hc_program_compile(program, job->code, found);
    if (!begun && (found->warnings || found->columns.len))
        hc_send_checked(found);
    if (rc < 0) {
        hc_send_rejected(found);
        return -1;
    }
    if (job->check)
        return 0;
    hc_program_take_rules(program, job->rules);
    hc_autopy *text = program->text ? Py_NewRef(program->text) : PyUnicode_FromString("");
    hc_autopy *done = text ? hc_frozen_call("hooks", "start", "(OLLL)", text, (long long)job->figures,
                                            (long long)job->figure_bytes, (long long)job->value_bytes)
                           : NULL;
    if (!done)
        fail_python("keep the program's source");
    return 0;
}

static void program_finish(struct hc_program *p)
{
    Py_CLEAR(p->text);
    Py_CLEAR(p->body);
    Py_CLEAR(p->last);
}

static void outcome_finish(struct hc_outcome *o)
{
    Py_CLEAR(o->value);
    Py_CLEAR(o->error_type);
    Py_CLEAR(o->error_classes);
    Py_CLEAR(o->error_message);
    Py_CLEAR(o->error_trace);
    Py_CLEAR(o->error_hint);
    PyErr_Clear();
}

/* Ends this process: the program's objects catch every TimeoutError, so that the harness cannot finish the
 * run. */
static void end_stubborn_run(void *ctx)
{
    (void)ctx;
    _exit(HC_EXIT_GUEST);
}

static void run_program(const struct order *o, const struct hc_program *program, PyObject *space,
                        PyObject *columns)
{
    struct hc_error err;
    struct hc_outcome outcome;
    struct hc_report report;
    hc_report_init(&report, (size_t)o->handover.job.value_bytes);
    send_empty_frame(HC_FRAME_RUN);
    hc_tools_open(true);
    hc_files_announce(true);
    hc_guard_begin();
    hc_deadline_arm();
    if (o->handover.job.command)
        hc_command_run(o->handover.job.code, o->handover.job.workdir, &outcome);
    else
        hc_program_run(program, space, &outcome);
    hc_deadline_disarm();
    hc_report_error(&report, &outcome);
    hc_report_columns(&report, columns);
    hc_deadline_on_stubborn(end_stubborn_run, NULL);
    hc_results_gather(&o->handover.job, space, &outcome, &report);
    int status = outcome.status;
    outcome_finish(&outcome);
    hc_flush_streams();
    hc_guard_release();
    hc_tools_open(false);
    hc_files_announce(false);
    end_feed(o);
    if (hc_report_send(&report, status, &err) < 0)
        exit_with_error(&err);
    hc_report_finish(&report);
}

/* Turns the compiler's warnings off in the process that only checks: the one that runs the program shows
 * them. As warnings.simplefilter("ignore") does, but that module may not be loaded, and loading it would take
 * longer than the check. */
static void silence_warnings(void)
{
    static bool silent;
    if (silent)
        return;
    silent = true;
    hc_autopy *module = PyImport_ImportModuleLevel("_warnings", NULL, NULL, NULL, 0);
    hc_autopy *filters = module ? PyObject_GetAttrString(module, "filters") : NULL;
    hc_autopy *all = filters ? Py_BuildValue("(sOOOi)", "ignore", Py_None, PyExc_Warning, Py_None, 0) : NULL;
    if (!all || PyList_Insert(filters, 0, all) < 0)
        fail_python("begin the check");
}

/* The launcher lets this process wait as soon as it knows what was found, and may have it take over before it
 * waits: so the signals that it waits for are blocked from here on. */
static void begin_check(void)
{
    const sigset_t turn = turn_signals();
    (void)sigprocmask(SIG_BLOCK, &turn, NULL);
    silence_warnings();
}

/* Tells the launcher that the program has passed its check; of findings it knows already. Ends this process
 * unless it is to check the next program, too. */
static void end_check(const struct order *o, int rc)
{
    hc_flush_streams();
    if (rc == 0)
        send_empty_frame(HC_FRAME_PASSED);
    if (o->handover.job.checker == HC_CHECKER_ENDS)
        _exit(rc == 0 ? HC_EXIT_OK : HC_EXIT_REJECTED);
}

static void run(struct order *o, PyObject *space, PyObject *columns)
{
    struct hc_program program;
    struct hc_findings found = {0};
    hc_guard.filename = o->handover.job.filename;
    hc_deadline_renew(o->handover.job.timeout);
    hc_autopy *hooked = hc_frozen_call("hooks", "begin_run", "(s)", hc_guard.filename);
    hc_autopy *file = PyUnicode_FromString(hc_guard.filename);
    if (!hooked || !file || PyDict_SetItemString(space, "__file__", file) < 0)
        fail_python("begin the run");
    if (hc_tools_begin_run() < 0)
        fail_python("begin the run");
    if (o->handover.job.check)
        begin_check();
    int rc = compile_run(o, &program, &found) == 0 && bind_given(o, space, columns) == 0 ? 0 : -1;
    if (o->handover.job.check)
        end_check(o, rc);
    else
        begun = true;
    if (rc == 0 && begun) {
        bind_variables(o, space);
        begin_feed(o);
        run_program(o, &program, space, columns);
    }
    hc_findings_finish(&found);
    program_finish(&program);
}

_Noreturn void hc_session_serve(PyObject *space, PyObject *columns)
{
    struct hc_error err;
    struct order current = {.input = -1}; /* kept until the next order, as the guard's texts point into it */
    hc_guard.session = true;
    hc_outcome_prepare();
    for (;;) {
        struct order next = {.input = -1};
        if (read_order(&next, &err) < 0)
            exit_with_error(&err);
        const bool stayed = next.handover.job.check && next.handover.job.checker == HC_CHECKER_AGAIN;
        hc_autopy *random = stayed ? NULL : random_state();
        enum side side = stayed ? SIDE_ORIGINAL : make_copy();
        if (side == SIDE_COPY) {
            order_finish(&next);
            hc_wire_drop(HC_FD_CONTROL);
            become_python(random);
            send_empty_frame(HC_FRAME_RESUMED);
            continue;
        }
        if (side == SIDE_NOT_COPIED) {
            order_finish(&next);
            send_empty_frame(
                HC_FRAME_UNKEPT); /* without a copy the run could not be undone: it is not begun */
            continue;
        }
        if (hc_wire_await_go(HC_FD_CONTROL, &err) < 0)
            exit_with_error(&err);
        if (*next.handover.job.code == '\0') { /* the launcher wanted a copy, and no run */
            const bool entered = !*next.handover.job.workdir || chdir(next.handover.job.workdir) == 0;
            order_finish(&next);
            send_empty_frame(entered ? HC_FRAME_RESUMED : HC_FRAME_UNKEPT);
            continue;
        }
        run(&next, space, columns);
        order_finish(&current);
        current = next;
        if (!current.handover.job.check)
            continue;
        wait_for_turn();
        hc_wire_drop(HC_FD_CONTROL);
        send_empty_frame(HC_FRAME_RESUMED);
    }
}
