#include "shim/harness/deadline.h"

#include "wire/handover.h"

#include <signal.h>
#include <sys/time.h>

#define PATIENCE 3 /* TimeoutErrors that the guest's objects may catch in one piece of the harness's work */
/* Microseconds between two TimeoutErrors when the job's time is over: some of limits.grace must be left to
 * report. */
#define HURRY_US 150000

static bool armed;                /* signals raise exceptions */
static bool within;               /* the harness calls the guest's objects (hc_deadline_within) */
static int raised;                /* exceptions raised in this run */
static int ignored;               /* TimeoutErrors in this piece of the harness's work */
static int seconds;               /* seconds that the guest's objects may take in this piece */
static hc_deadline_end *stubborn; /* called when `ignored` reaches PATIENCE; NULL: no function */
static void *stubborn_ctx;        /* argument of `stubborn`; borrowed */
static const char *timeout_text;  /* limits.timeout as the user writes it, borrowed */
static PyObject *set_handler;     /* owned: _signal.signal as it was before the guest could replace it */
static PyObject *handler;         /* owned: on_signal as a Python function */

static void set_alarm(const struct timeval *after)
{
    const struct itimerval timer = {.it_value = *after, .it_interval = *after};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* Counts one more TimeoutError, and ends the work if the guest's objects have caught too many. */
static void count_ignored(int number)
{
    if (++ignored >= PATIENCE && stubborn)
        stubborn(stubborn_ctx);
    if (number == HC_SIGNAL_DEADLINE)
        set_alarm(&(struct timeval){.tv_usec = HURRY_US});
}

static PyObject *on_signal(PyObject *self, PyObject *args)
{
    int number;
    PyObject *frame; /* borrowed */
    (void)self;
    if (!PyArg_ParseTuple(args, "iO", &number, &frame))
        return NULL;
    /* The harness needs little memory itself, and must save the program's results in spite of the signal. */
    if (!armed || (within && number == HC_SIGNAL_MEMORY))
        Py_RETURN_NONE;
    raised++;
    if (within)
        count_ignored(number);
    if (number == HC_SIGNAL_INTERRUPT) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        return NULL;
    }
    if (number == SIGALRM)
        return PyErr_Format(PyExc_TimeoutError, "it took longer than %d s", seconds);
    if (number == HC_SIGNAL_MEMORY)
        return PyErr_Format(PyExc_MemoryError, "the job's memory is nearly used up (limits.memory, "
                                               "limits.memory_soft); what it has so far is kept");
    return PyErr_Format(PyExc_TimeoutError,
                        "the job's time is over (limits.timeout %s); what it has so far is kept",
                        timeout_text);
}

static int set_signal_handler(int number)
{
    hc_autopy *before = PyObject_CallFunction(set_handler, "iO", number, handler);
    return before ? 0 : -1;
}

int hc_deadline_prepare(const char *timeout)
{
    static PyMethodDef method = {"on_deadline", on_signal, METH_VARARGS, NULL};
    timeout_text = timeout;
    hc_autopy *module = PyImport_ImportModule("_signal");
    set_handler = module ? PyObject_GetAttrString(module, "signal") : NULL;
    handler = PyCFunction_NewEx(&method, NULL, NULL);
    if (!set_handler || !handler || set_signal_handler(HC_SIGNAL_MEMORY) < 0 ||
        set_signal_handler(HC_SIGNAL_INTERRUPT) < 0)
        return -1;
    return set_signal_handler(HC_SIGNAL_DEADLINE);
}

void hc_deadline_renew(const char *timeout)
{
    timeout_text = timeout;
    raised = ignored = 0;
}

void hc_deadline_arm(void)
{
    armed = true;
}

/* Handles pending signals now, while their handler does nothing. */
void hc_deadline_disarm(void)
{
    PyObject *type, *error, *trace;
    armed = false;
    PyErr_Fetch(&type, &error, &trace);
    (void)PyErr_CheckSignals();
    PyErr_Restore(type, error, trace);
}

int hc_deadline_raised(void)
{
    return raised;
}

void hc_deadline_within(int allowed)
{
    seconds = allowed;
    if (set_signal_handler(SIGALRM) < 0) /* the program's own handler is replaced: the program has ended */
        PyErr_Clear();
    armed = within = true;
    ignored = 0;
    set_alarm(&(struct timeval){.tv_sec = allowed});
}

void hc_deadline_on_stubborn(hc_deadline_end *end, void *ctx)
{
    stubborn = end;
    stubborn_ctx = ctx;
}

void hc_deadline_lift(void)
{
    set_alarm(&(struct timeval){0});
    within = false;
    hc_deadline_disarm();
    PyErr_Clear();
}
