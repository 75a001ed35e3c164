/* guest.c - pid 2 of a cell: one job, as a straight line.
 *
 * Processes: this one; threads may come from libraries that load the job's data, children only from the
 * guest. Rights: those that the launcher left, and from hc_lock_syscalls on only what the job's filter
 * allows. The program is parsed after that, so that no flaw in the parser has more to work with than the
 * program itself. Channels: frames on HC_FD_CONTROL (FILTERED, READY, then GO is awaited, then REJECTED, or
 * RUN and REPORT); stdout and stderr are the guest's own.
 *
 * After the program has run, every Python object is the guest's word: each is read by C that expects anything
 * (outcome.c, value.c) or by frozen Python out of the guest's reach (frozen.c), and no failure there may hide
 * what the program did. */
#include "shim/harness/advice.h"
#include "shim/harness/command.h"
#include "shim/harness/deadline.h"
#include "shim/harness/ending.h"
#include "shim/harness/feed.h"
#include "shim/harness/frozen.h"
#include "shim/harness/reject.h"
#include "shim/harness/pyjson.h"
#include "shim/harness/results.h"
#include "shim/harness/files.h"
#include "shim/harness/tools.h"
#include "shim/harness/words.h"
#include "shim/harness/wire.h"

#include "base/fd.h"
#include "shim/guard/guard.h"
#include "shim/guest.h"
#include "shim/lock.h"
#include "shim/session.h"
#include "shim/source.h"
#include "shim/start.h"
#include "shim/starter.h"
#include "shim/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* The policy's own code failed: shows the exception, whose last line the launcher takes as the reason. */
static _Noreturn void fail_prelude(void)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyErr_Display(type, error, trace); /* PyErr_Print would obey a SystemExit */
    _exit(HC_EXIT_CONFIG);
}

static void bind_variables(const struct hc_handover *h, PyObject *space)
{
    if (!h->job.has_vars)
        return;
    hc_autopy *vars = hc_frozen_call("data", "variables", "(y#)", h->json.text, (Py_ssize_t)h->json.len);
    if (!vars || PyDict_Update(space, vars) < 0)
        hc_fail_python("set the job's variables");
}

/* Loads one input into `space`, and the names of its columns into `columns`. The frozen function returns
 * (value, columns, None, warning) or (None, None, message, None). */
static void bind_input(const struct hc_handover_input *input, PyObject *space, PyObject *columns)
{
    hc_autopy *read_npz =
        strcmp(input->format, "npz") == 0 ? hc_frozen_function("values", "read_file") : Py_NewRef(Py_None);
    hc_autopy *loaded =
        read_npz ? hc_frozen_call("data", "load", "(sssO)", input->name, input->path, input->format, read_npz)
                 : NULL;
    PyObject *value, *names, *message, *warning; /* borrowed from `loaded` */
    if (!loaded || !PyArg_ParseTuple(loaded, "OOOO", &value, &names, &message, &warning))
        hc_fail_python("load the job's data");
    if (warning != Py_None)
        hc_report_warn_of_input(warning);
    if (message != Py_None)
        hc_reject(&(struct hc_rejection){.rule = "input", .message = message});
    if (PyDict_SetItemString(space, input->name, value) < 0 ||
        (names != Py_None && PyDict_SetItemString(columns, input->name, names) < 0))
        hc_fail_python("load the job's data");
}

/* Puts variables, tools and inputs into `space`. New reference: a dict, input name -> names of its columns.
 */
static PyObject *bind_data(const struct hc_handover *h, PyObject *space)
{
    PyObject *columns = PyDict_New();
    if (columns && (h->job.check || h->job.command))
        return columns; /* the program is checked, and not run; a command has files, and no variables */
    bind_variables(h, space);
    if (hc_tools_bind(h->job.tools, space) < 0)
        hc_fail_python("set up the tools");
    if (!columns)
        hc_fail_python("load the job's data");
    for (size_t i = 0; i < h->job.input_count; i++)
        bind_input(&h->job.inputs[i], space, columns);
    return columns;
}

/* Runs the policy's prelude in `space`. The guard is not on yet, as its rules are not for the policy's code.
 */
static void run_prelude(const struct hc_handover_job *job, PyObject *space)
{
    const cJSON *rules = hc_json_member(job->rules, "prelude");
    if (!rules || !rules->child || job->command)
        return;
    hc_autopy *options = hc_py_from_json(rules);
    hc_autopy *helpers = hc_frozen_call("hooks", "helpers", "()");
    hc_autopy *done = options && helpers
                          ? hc_frozen_call("prelude", "run", "(OOsO)", options, space, job->code, helpers)
                          : NULL;
    if (!done)
        fail_prelude();
}

static void install_guards(const struct hc_handover *h, PyObject *space)
{
    struct hc_error err;
    if (hc_ending_prepare() < 0 || hc_deadline_prepare(h->job.timeout) < 0)
        hc_fail_python("prepare for the program's end");
    if (hc_guard_install(space) < 0)
        hc_fail_python("install the guard");
    if (hc_lock_syscalls(h->filters.own, &err) < 0)
        hc_fail_shim(&err);
}

static void send_empty_frame(enum hc_frame_type type)
{
    struct hc_error err;
    if (hc_wire_send(HC_FD_CONTROL, type, NULL, 0, &err) < 0)
        hc_fail_shim(&err);
}

static void compile_program(const struct hc_handover_job *job, struct hc_program *program,
                            struct hc_findings *found)
{
    *program = (struct hc_program){0};
    int rc = job->command ? 0 : hc_program_compile(program, job->code, found);
    if (job->check || found->warnings || found->columns.len)
        hc_send_checked(found);
    if (rc < 0)
        hc_reject_findings(found);
    if (job->check)
        _exit(HC_EXIT_OK);
    hc_program_take_rules(program, job->rules);
    hc_autopy *text = program->text ? Py_NewRef(program->text) : PyUnicode_FromString("");
    hc_autopy *done = text ? hc_frozen_call("hooks", "start", "(OLLL)", text, (long long)job->figures,
                                            (long long)job->figure_bytes, (long long)job->value_bytes)
                           : NULL;
    if (!done)
        hc_fail_python("keep the program's source");
}

/* Ends the program as Python does. Its threads and atexit functions are part of it, and get its deadline too.
 */
static void end_program(PyObject *space, struct hc_outcome *outcome)
{
    int before = hc_deadline_raised();
    hc_deadline_arm();
    hc_ending_run(space);
    hc_deadline_disarm();
    if (hc_deadline_raised() > before && outcome->status == HC_EXIT_OK)
        outcome->status = HC_EXIT_GUEST;
}

/* The argument of end_without_value; both members are borrowed. */
struct ended {
    struct hc_report *report;         /* the report so far */
    const struct hc_outcome *outcome; /* how the program ended */
};

/* Sends the report with what was collected so far, and ends the process: the program's objects catch every
 * TimeoutError, and would keep the harness from ever finishing. */
static void end_without_value(void *ctx)
{
    const struct ended *e = ctx;
    struct hc_error err;
    hc_report_warn(e->report, "What the program left could not all be looked at: its objects do not answer.");
    (void)hc_report_send(e->report, e->outcome->status, &err);
    _exit(e->outcome->status);
}

/* Collects the results, ends the program as Python does, sends the report. false: the report was not sent. */
static bool finish_job(const struct hc_handover_job *job, PyObject *space, PyObject *columns,
                       struct hc_outcome *outcome, struct hc_report *report)
{
    hc_report_error(report, outcome);
    hc_report_columns(report, columns);
    struct ended ended = {report, outcome};
    hc_deadline_on_stubborn(end_without_value, &ended);
    hc_results_gather(job, space, outcome, report);
    Py_CLEAR(outcome->value);
    end_program(space, outcome);
    hc_guard_release();
    hc_tools_open(false);
    hc_files_announce(false);
    struct hc_error err;
    if (hc_report_send(report, outcome->status, &err) == 0)
        return true;
    (void)dprintf(STDERR_FILENO, "hotcell-shim: %s\n", err.text);
    return false;
}

int hc_guest_job(const struct hc_handover *handover, bool *told)
{
    struct hc_error err;
    /* A program of the tree that the guest executes has no use for the channel. */
    if (fcntl(HC_FD_CONTROL, F_SETFD, FD_CLOEXEC) < 0)
        hc_fail_shim(((void)hc_fail(&err, errno, "the control channel"), &err));
    const struct hc_handover_job *job = &handover->job;
    PyObject *space = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    hc_words_choose(job->interface);
    /* The module inspect finds the source of classes by __file__, in linecache. */
    hc_autopy *file = PyUnicode_FromString(hc_guard.filename);
    if (!file || PyDict_SetItemString(space, "__file__", file) < 0)
        hc_fail_python("set up the program's module");
    if (hc_feed_begin(job, false) < 0 || (job->session && hc_feed_watch_input() < 0))
        hc_fail_python("set up the program's input");
    PyObject *columns = bind_data(handover, space); /* new */
    run_prelude(job, space);
    install_guards(handover, space);
    hc_advice_prepare(job);
    send_empty_frame(HC_FRAME_READY);
    int starter;
    if (hc_wire_await_first_go(HC_FD_CONTROL, &starter, &err) < 0 ||
        (starter >= 0 && hc_starter_begin(starter, &err) < 0))
        hc_fail_shim(&err);

    if (job->session)
        hc_session_serve(space, columns);

    struct hc_program program;
    struct hc_report report;
    struct hc_outcome outcome;
    struct hc_findings found = {0};
    compile_program(job, &program, &found);
    hc_report_init(&report, (size_t)job->value_bytes);
    hc_outcome_prepare();
    send_empty_frame(HC_FRAME_RUN);
    hc_tools_open(true);
    hc_files_announce(true);
    hc_guard_begin();
    hc_guard_learn(&found);
    hc_findings_finish(&found);
    pid_t self = getpid();
    hc_deadline_arm();
    if (job->command)
        hc_command_run(job->code, job->workdir, &outcome);
    else
        hc_program_run(&program, space, &outcome);
    hc_deadline_disarm();
    if (getpid() == self) {
        *told = finish_job(job, space, columns, &outcome, &report);
        return outcome.status;
    }
    /* This process is a child that the guest forked, and has come to the program's end too. It ends as it
     * would in Python; only its parent sends a report. */
    hc_ending_run(space);
    _exit(outcome.status);
}

_Noreturn void hc_guest_run(pid_t parent)
{
    struct hc_error err;
    struct hc_handover handover;
    hc_start_process(parent, "python3");
    if (hc_start_read(HC_FD_HANDOVER, &handover, &err) < 0)
        hc_fail_shim(&err);
    if (handover.kind == HC_HANDOVER_ZYGOTE)
        hc_zygote_run(&handover);
    if (hc_start_report(&handover, &err) < 0 || hc_handover_parse(&handover, &err) < 0)
        hc_fail_shim(&err);
    hc_start(&handover.job);
    bool told;
    _exit(hc_guest_job(&handover, &told));
}
