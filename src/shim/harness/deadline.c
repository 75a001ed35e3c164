#include "shim/harness/deadline.h"

#include "wire/handover.h"

#include <signal.h>
#include <sys/time.h>

#define PATIENCE 3 /* TimeoutErrors for one piece of the harness's work */
#define HURRY_US                                                                                             \
    150000 /* between them, when the job's time is nearly up: it must still be time to report                \
            */

static bool armed, within;
static int raised, in_vain, seconds;
static hc_deadline_end *stubborn;
static void *stubborn_ctx;
static const char *timeout_text;
static PyObject *set_handler, *handler; /* owned; the module's own, whatever the guest makes of its names */

static void set_alarm(const struct timeval *after)
{
    const struct itimerval timer = {.it_value = *after, .it_interval = *after};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* The guest's objects have been told `in_vain` times already. */
static void insist(int number)
{
    if (++in_vain >= PATIENCE && stubborn)
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
    /* The harness's own work is small, and what it saves is the point of it all. */
    if (!armed || (within && number == HC_SIGNAL_MEMORY))
        Py_RETURN_NONE;
    raised++;
    if (within)
        insist(number);
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
                        "the job's time is nearly up (limits.timeout %s); what it has so far is kept",
                        timeout_text);
}

static int handle(int number)
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
    if (!set_handler || !handler || handle(HC_SIGNAL_MEMORY) < 0 || handle(HC_SIGNAL_INTERRUPT) < 0)
        return -1;
    return handle(HC_SIGNAL_DEADLINE);
}

void hc_deadline_renew(const char *timeout)
{
    timeout_text = timeout;
    raised = in_vain = 0;
}

void hc_deadline_arm(void)
{
    armed = true;
}

/* What is on its way is taken now, and does nothing. */
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
    if (handle(SIGALRM) < 0) /* the program may have had plans for this signal, but it has ended */
        PyErr_Clear();
    armed = within = true;
    in_vain = 0;
    set_alarm(&(struct timeval){.tv_sec = allowed});
}

void hc_deadline_stubborn(hc_deadline_end *end, void *ctx)
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
