/* The steps that every interpreter's process takes before it has a job. */
#include "shim/start.h"

#include "shim/harness/files.h"
#include "shim/harness/frozen.h"
#include "shim/harness/pyjson.h"
#include "shim/harness/value.h"
#include "shim/harness/wire.h"

#include "base/fd.h"
#include "shim/guard/guard.h"
#include "shim/interp.h"
#include "shim/libc.h"
#include "shim/lock.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

_Noreturn void hc_fail_shim(const struct hc_error *err)
{
    (void)dprintf(STDERR_FILENO, "hotcell-shim: %s\n", err->text);
    _exit(HC_EXIT_INTERNAL);
}

_Noreturn void hc_fail_python(const char *doing)
{
    PyErr_Print();
    struct hc_error err;
    (void)hc_fail(&err, 0, "%s", doing);
    hc_fail_shim(&err);
}

void hc_start_process(pid_t parent, const char *name)
{
    prctl(PR_SET_NAME, name);
    /* The process stays undumpable, as pid 1 is: RLIMIT_CORE 0 does not keep a host's core handler, which
     * runs as root, from being started when the guest crashes (core(5)). */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(HC_EXIT_INTERNAL); /* the parent died before PDEATHSIG was set */
    setsid();
}

int hc_start_read(int handover_fd, struct hc_handover *out, struct hc_error *err)
{
    hc_autofd fd = handover_fd;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return hc_fail(err, errno, "handover");
    size_t len = (size_t)st.st_size;
    void *data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return hc_fail(err, errno, "handover: map %zu bytes", len);
    return hc_handover_split(out, data, len, err);
}

int hc_start_report(const struct hc_handover *h, struct hc_error *err)
{
    hc_autofd listener = -1;
    int rc = hc_lock_report(h->filters.report, &listener, err);
    return rc < 0 ? -1 : hc_wire_pass(HC_FD_CONTROL, HC_FRAME_FILTERED, listener, err);
}

static void start_python(const struct hc_handover_job *job)
{
    struct hc_error err;
    struct hc_interp_options options = {
        .filename = hc_guard.filename,
        .layers = job->layers,
        .seeded = job->has_seed,
        .seed = job->seed,
    };
    if (hc_interp_start(&options, &err) < 0)
        hc_fail_shim(&err);
    const char *directory = hc_rules_text(job->rules, "figures", "directory", "figures");
    if (hc_frozen_init() < 0 || hc_files_bind(directory) < 0 || hc_value_bind() < 0)
        hc_fail_python("set up the harness");
    hc_autopy *seed = options.seeded ? PyLong_FromUnsignedLong(options.seed) : Py_NewRef(Py_None);
    hc_autopy *figures = hc_py_from_json(hc_json_member(job->rules, "figures"));
    hc_autopy *done = seed && figures
                          ? hc_frozen_call("hooks", "install", "(sOOLL)", hc_guard.filename, seed, figures,
                                           (long long)job->figures, (long long)job->figure_bytes)
                          : NULL;
    if (!done)
        hc_fail_python("set up the harness");
}

void hc_start(const struct hc_handover_job *job)
{
    struct hc_error err;
    if (hc_guard_rules_read(job) < 0 || hc_guard_prepare() < 0) {
        (void)hc_fail(&err, 0, "read the policy's rules");
        hc_fail_shim(&err);
    }
    hc_libc_sizes(job->memory, job->output, job->tmp);
    start_python(job);
}
