/* Run one job: resolve and open everything, build the cell, supervise it, collect its output, write the
 * manifest. One struct owns every resource; hc_launch_finish frees them after any stage. */
#include "cell/run.h"

#include "base/fd.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/units.h"
#include "cell/launch/launch.h"
#include "cell/policy_store.h"
#include "cell/record.h"
#include "cell/supervise/watch.h"
#include "cell/tools.h"
#include "inside/weak.h"
#include "manifest/redact_manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define SECOND      1000000000LL /* nanoseconds of a second */
#define SECONDS_END 19           /* characters of a time in RFC 3339 up to its seconds */

/* Nanoseconds by which the wall clock was set back since `since_us`. Slewing, by at most 500 parts in a
 * million (adjtimex(2)), does not count. */
static int64_t clock_set_back(int64_t ahead, int64_t since_us)
{
    int64_t back = ahead - hc_clock_ahead(),
            slewed = hc_now_us() - since_us; /* in ns: a thousandth of the time since `since_us` */
    return back > SECOND + slewed ? back : 0;
}

/* Write the second in which the job began, with `separator` between its parts, and 12 random hex digits
 * behind `before_random`: a unique name that sorts by time. `started` is the manifest's. */
static int make_timed_name(const char *started, const char *separator, const char *before_random, char *out,
                           size_t size, struct hc_error *err)
{
    uint64_t random;
    size_t used = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return hc_fail(err, errno, "getrandom");
    for (size_t i = 0; i < SECONDS_END && started[i] && used + 2 < size; i++) {
        const char *digit = started + i;
        bool separates = *digit == '-' || *digit == ':';
        if (!separates || *separator)
            out[used++] = separates ? *separator : *digit;
    }
    (void)snprintf(out + used, size - used, "Z%s%012llx", before_random,
                   (unsigned long long)random & 0xffffffffffffULL);
    return 0;
}

void hc_launch_supervisor(struct hc_launch *l)
{
    struct hc_supervisor *s = &l->sup;
    s->policy = l->run->policy;
    s->redactor = l->redactor;
    s->uid = l->ids.uid;
    s->cgroup = &l->cgroup;
    s->stdout_fd = l->stdout_fd;
    s->stderr_fd = l->stderr_fd;
    s->control_fd = l->control_fd;
    s->status_fd = l->status_fd;
    s->output_fd = l->output_fd;
    s->tmp_fd = l->tmp_fd;
    s->space_fd = l->space_fd;
    s->copies = &l->copies;
    s->pass_stdout = l->run->pass_stdout;
    s->pass_stderr = l->run->pass_stderr;
    s->cancel_fd = l->run->cancel_fd;
    s->figure_sink = l->run->figure_sink;
    s->file_pages = l->cgroup.fd < 0 && !hc_weak(HC_WEAK_WATCH) ? hc_launch_file_pages(l) : -1;
    if (!s->adopted)
        s->filters = hc_status_own_filters();
    s->out = &l->m->out;
    s->err = &l->m->err;
    s->denials = &l->m->denials;
    s->samples = &l->m->samples;
    s->learned = l->run->learned;
    s->host_oom_kills = l->cgroup.fd < 0 ? hc_watch_oom_kills() : -1;
    s->inbox.max = (size_t)l->run->policy->limits.value_bytes + (1 << 20);
}

static void fill_timing(struct hc_launch *l)
{
    const struct hc_supervisor *s = &l->sup;
    l->m->timing.build_us = l->t_started - l->t_start;
    l->m->timing.start_us = s->go_us ? s->go_us - l->t_started : -1;
    l->m->timing.run_us = s->go_us ? (s->end_us ? s->end_us : hc_now_us()) - s->go_us : -1;
}

/* The endings of saved programs: in Python, and of commands, which are JSON. */
static const char *ending_of_code(const struct hc_launch *l)
{
    return l->run->job->is_command ? HC_SAVED_COMMAND : HC_SAVED_PROGRAM;
}

/* Writes the program as `path`, and its record beside it. */
static int write_code(struct hc_launch *l, const char *base, const char *path, struct hc_error *err)
{
    struct hc_dest *dest = &l->run->dest;
    char name[72];
    hc_autobuf code = {0};
    hc_autobuf record = {0};
    hc_record_code(&code, l->run->job, l->m);
    if (code.failed)
        return hc_fail(err, ENOMEM, "code");
    if (hc_record_print(&record, l->run->job, l->m, err) < 0)
        return -1;
    (void)snprintf(name, sizeof name, "code/run_%.55s.json", base);
    if (hc_dest_make_dir(dest, "code", err) < 0 ||
        hc_dest_write(dest, name, record.data, record.len, err) < 0)
        return -1;
    if (hc_dest_write(dest, path, code.data ? code.data : "", code.len, err) < 0)
        return -1;
    l->m->kept_bytes = (int64_t)(record.len + code.len);
    return 0;
}

static int persist_code(struct hc_launch *l, struct hc_error *err)
{
    char base[56], name[84];
    if (make_timed_name(l->m->started, "-", "_", base, sizeof base, err) < 0)
        return -1;
    (void)snprintf(name, sizeof name, "code/run_%.55s%s", base, ending_of_code(l));
    if (write_code(l, base, name, err) < 0) {
        if (!hc_dest_refusal(err))
            return hc_ctx(err, "save the code");
        hc_launch_warn(l->m, HC_CODE_LOST "%.175s", err->text);
        return 0;
    }
    l->m->code_path = strdup(name);
    return l->m->code_path ? 0 : hc_fail(err, ENOMEM, "save the code");
}

/* If not all output was collected, the program reached a limit: set the outcome. */
static void conclude_collected(struct hc_launch *l)
{
    const struct hc_limits *limits = &l->run->policy->limits;
    char text[32], why[160];
    switch (l->collected) {
    case HC_COLLECTED_ALL:
        return;
    case HC_COLLECTED_BYTES:
        (void)snprintf(why, sizeof why, "left more than %s to collect (limits.collect_bytes, --collect-size)",
                       hc_format_size(limits->collect_bytes, text, sizeof text));
        break;
    case HC_COLLECTED_TIME:
        (void)snprintf(why, sizeof why, "left more than could be collected in %s (limits.collect_time)",
                       hc_format_duration(limits->collect_ms, text, sizeof text));
        break;
    case HC_COLLECTED_CANCELLED:
        (void)snprintf(why, sizeof why, "cancelled from outside while its output was collected");
        break;
    }
    if (l->m->status != HC_STATUS_OK)
        hc_launch_warn(l->m, "not all output was collected: %s", why);
    else
        hc_launch_conclude(
            l->m, l->collected == HC_COLLECTED_CANCELLED ? HC_STATUS_KILLED : HC_STATUS_COLLECT, "%s", why);
}

static bool is_copy(const void *copies, const char *path, const struct stat *st)
{
    return hc_input_copies_have(copies, path, st);
}

int hc_launch_keep(struct hc_launch *l, int64_t since_ns, struct hc_error *err)
{
    struct hc_collect c = {
        .from_fd = l->output_fd,
        .dest = &l->run->dest,
        .in_place = l->run->policy->output_mode == HC_OUTPUT_BIND,
        .changed_only = l->sup.session,
        .since_ns = since_ns,
        .cancel_fd = l->run->cancel_fd,
        .was_there = is_copy,
        .ctx = &l->copies,
        .policy = l->run->policy,
        .manifest = l->m,
        .drawn = &l->sup.drawn,
    };
    if (!l->sup.over && hc_collect(&c, err) < 0) /* after an early exit /output is empty (early_exit.c) */
        return -1;
    l->collected = c.ended;
    /* Those of a session are looked at when it has ended: until then its process can change the copies. */
    if (!l->sup.session && hc_launch_keep_changes(l, err) < 0)
        return -1;
    if (c.reserved_name_left)
        hc_launch_warn(l->m, "what the program left under names of hotcell's own could not be renamed "
                             "(see skipped): hotcell did not write it");
    conclude_collected(l);
    if (!l->sup.session)
        hc_launch_keep_volumes(l);
    /* The results are partial if some were not collected, or if the job did not end well, but left files or
     * figures, or reported after a warning. */
    bool warned = l->m->status == HC_STATUS_TIMEOUT || l->m->status == HC_STATUS_MEMORY;
    bool reported = warned && l->m->guest;
    l->m->partial = l->collected != HC_COLLECTED_ALL ||
                    (l->m->status != HC_STATUS_OK && (l->m->figure_count || l->m->file_count || reported));
    int rc = l->run->job->persist_code ? persist_code(l, err) : 0;
    if (c.dest->temporary_reason[0])
        hc_launch_warn(l->m, "the results are in %.300s: %.200s", c.dest->path, c.dest->temporary_reason);
    return rc;
}

void hc_launch_init(struct hc_launch *l, struct hc_run *r, struct hc_manifest *m)
{
    *l = (struct hc_launch){
        .run = r,
        .m = m,
        .sync_fd = -1,
        .stdout_fd = -1,
        .stderr_fd = -1,
        .control_fd = -1,
        .status_fd = -1,
        .space_fd = -1,
        .output_fd = -1,
        .tmp_fd = -1,
        .feed = {.fd = -1, .pidfd = -1},
    };
    l->t_start = hc_now_us();
    l->tree.root_fd = l->tree.lock_fd = -1;
    l->ids.lease_fd = l->block.lease_fd = -1;
    l->parent.fd = -1;
    l->cgroup.fd = -1;
    l->sup.pidfd = -1;
    l->sup.listener.fd = -1;
    l->sup.cgroup = &l->cgroup;
    struct hc_plan *p = &l->plan;
    p->policy = r->policy;
    p->tree = p->shim = p->output = p->local = (struct hc_source){.fd = -1, .mount_fd = -1};
    p->devices_fd = -1;
    p->sync_fd = p->stdin_fd = p->stdout_fd = p->stderr_fd = p->handover_fd = p->status_fd = -1;
}

void hc_source_finish(struct hc_source *s)
{
    free(s->path);
    hc_close_fd(&s->fd);
    hc_close_fd(&s->mount_fd);
}

void hc_launch_finish(struct hc_launch *l)
{
    hc_supervise_kill(&l->sup);
    (void)hc_feed_stop(&l->feed);
    hc_toolbox_free(l->sup.tools);
    hc_close_fd(&l->sup.pidfd);
    hc_listener_finish(&l->sup.listener);
    hc_inbox_finish(&l->sup.inbox);
    hc_buf_finish(&l->sup.checked);
    hc_figure_list_finish(&l->sup.drawn);
    hc_input_copies_finish(&l->copies);
    /* The pages of these tmpfs are charged to the cgroup, so close them before it is removed. */
    hc_close_fd(&l->space_fd);
    hc_close_fd(&l->output_fd);
    hc_close_fd(&l->tmp_fd);
    for (size_t i = 0; i < HC_MAX_DIRS; i++)
        hc_originals_finish(&l->originals[i]);
    hc_source_finish(&l->plan.tree);
    hc_source_finish(&l->plan.shim);
    hc_source_finish(&l->plan.output);
    hc_source_finish(&l->plan.local);
    hc_close_fd(&l->plan.devices_fd);
    for (size_t i = 0; i < l->plan.layer_count; i++)
        hc_source_finish(&l->plan.layers[i]);
    for (size_t i = 0; i < l->plan.input_count; i++)
        hc_source_finish(&l->plan.inputs[i]);
    for (size_t i = 0; i < l->plan.dir_count; i++)
        hc_source_finish(&l->plan.dirs[i].from);
    hc_launch_close_childs_ends(l);
    int *const fds[] = {&l->sync_fd, &l->stdout_fd, &l->stderr_fd, &l->control_fd, &l->status_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        hc_close_fd(fds[i]);
    hc_cgroup_remove(&l->cgroup);
    hc_cgroup_parent_finish(&l->parent);
    hc_ids_release(&l->ids);
    hc_ids_release(&l->block);
    hc_tree_finish(&l->tree);
    hc_buf_finish(&l->first_filter);
    hc_redactor_free(l->redactor);
    for (char **e = l->env; e && *e; e++)
        free(*e);
    free(l->env);
}

/* Files with this time or a later one are this job's. The kernel stamps files with a clock that advances
 * every few milliseconds, or, since 6.13, with an exact one. In bind mode, where the directory has earlier
 * files, wait until the coarse clock is past this moment. */
int64_t hc_launch_first_stamp(const struct hc_policy *policy)
{
    const int64_t moment = hc_clock_ns(CLOCK_REALTIME);
    int64_t stamp_ns = hc_clock_ns(CLOCK_REALTIME_COARSE);
    while (policy->output_mode == HC_OUTPUT_BIND && stamp_ns <= moment && moment - stamp_ns < SECOND) {
        const struct timespec while_it_stands = {.tv_nsec = 500000};
        (void)nanosleep(&while_it_stands, NULL);
        stamp_ns = hc_clock_ns(CLOCK_REALTIME_COARSE);
    }
    return stamp_ns;
}

/* Redact the texts of the manifest, which may quote the program's output. */
void hc_launch_redact(struct hc_launch *l)
{
    struct hc_manifest *m = l->m;
    if (!l->redactor)
        return;
    if (hc_manifest_redact(m, l->redactor) < 0)
        hc_launch_warn(m, "what the guest's process reported was dropped: it could not be redacted");
    if (m->out.withheld || m->err.withheld)
        hc_launch_warn(m, "output was withheld: looking for what is to be redacted took too long");
}

/* Called before the cell is built: a tool without a command or client is an error at once. */
static int prepare_tools(struct hc_launch *l, int64_t ahead, struct hc_error *err)
{
    const struct hc_run *r = l->run;
    if (r->policy->tools.count == 0 || r->job->check_only)
        return 0;
    return hc_toolbox_new(&l->sup.tools, &r->policy->tools, r->tool_fd > 0 ? r->tool_fd : -1, ahead,
                          &l->m->tools, &l->m->denials, err);
}

/* Called before the cell is built. A program that is only checked reads nothing. */
static int prepare_stdin(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_run *r = l->run;
    if (!r->job->has_stdin || r->job->check_only)
        return 0;
    return hc_feed_start(&l->feed, r->job, r->stdin_fd, err);
}

static void end_stdin(struct hc_launch *l)
{
    int error = hc_feed_stop(&l->feed);
    if (error)
        hc_launch_warn(l->m, "standard input could not be read to its end: %s", strerror(error));
}

static int run_cell(struct hc_launch *l, int64_t ahead, struct hc_error *err)
{
    if (prepare_tools(l, ahead, err) < 0 || prepare_stdin(l, err) < 0)
        return -1;
    struct hc_parked *parked = l->run->parked;
    if (!parked && hc_launch_prepare(l, err) < 0)
        return -1;
    int64_t since_ns = hc_launch_first_stamp(l->run->policy);
    if ((parked ? hc_launch_enter(l, parked, err) : hc_launch_construct(l, err)) < 0 ||
        hc_launch_copy_earlier_files(l, err) < 0 || hc_launch_copy_inputs(l, err) < 0)
        return -1;
    l->t_started = hc_now_us();
    hc_launch_supervisor(l);
    hc_samples_begin(&l->m->samples, l->t_started, HC_SAMPLE_US);
    int rc = hc_supervise(&l->sup, err);
    end_stdin(l);
    fill_timing(l); /* after a failure, too: a job whose program was not begun may be tried again */
    if (rc < 0)
        return -1;
    hc_launch_count_usage(l);
    if (hc_launch_set_outcome(l, err) < 0)
        return -1;
    hc_launch_redact(l);
    int64_t collecting = hc_now_us();
    if (hc_launch_keep(l, since_ns - clock_set_back(ahead, l->t_start), err) < 0)
        return -1;
    l->m->timing.collect_us = hc_now_us() - collecting;
    return 0;
}

static bool refuse_input(const struct hc_job *job, const struct hc_policy *policy, struct hc_manifest *m)
{
    const char *rule = hc_job_refuse_input(job, policy, m->rejection.message, sizeof m->rejection.message);
    if (!rule)
        return false;
    m->rejection.set = true;
    (void)snprintf(m->rejection.rule, sizeof m->rejection.rule, "%s", rule);
    hc_launch_conclude(m, HC_STATUS_REJECTED, "%s", m->rejection.message);
    return true;
}

bool hc_launch_check_size(const struct hc_job *job, const struct hc_policy *policy, struct hc_manifest *m)
{
    int64_t max = policy->limits.code_bytes;
    char text[32];
    if ((int64_t)job->code_len <= max)
        return refuse_input(job, policy, m);
    m->rejection.set = true;
    (void)snprintf(m->rejection.rule, sizeof m->rejection.rule, "code_size");
    (void)snprintf(m->rejection.message, sizeof m->rejection.message,
                   "the code has %zu bytes, more than %s (limits.code)", job->code_len,
                   hc_format_size(max, text, sizeof text));
    (void)snprintf(m->rejection.hint, sizeof m->rejection.hint,
                   "pass data with --input instead of writing it into the code");
    hc_launch_conclude(m, HC_STATUS_REJECTED, "%s", m->rejection.message);
    return true;
}

/* Why a path cannot be read as a file, a text as of strerror; NULL: it can. Nothing is opened, as a named
 * pipe or a device may keep who opens it waiting. */
static const char *read_error(const char *path)
{
    struct stat st;
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0 || stat(path, &st) < 0)
        return strerror(errno);
    if (S_ISDIR(st.st_mode))
        return strerror(EISDIR);
    return S_ISREG(st.st_mode) ? NULL : "Not a regular file";
}

/* Reject the program if the file for one of its data frames cannot be read: callers of the older runner
 * expect the same message and status for this as for a malformed file. Returns true if it was rejected. */
static bool check_frames(const struct hc_job *job, struct hc_manifest *m)
{
    for (size_t i = 0; i < job->input_count; i++) {
        const struct hc_input *in = &job->inputs[i];
        const char *error = in->format == HC_INPUT_FRAME ? read_error(in->path) : NULL;
        if (!error)
            continue;
        m->rejection.set = true;
        (void)snprintf(m->rejection.rule, sizeof m->rejection.rule, "input");
        (void)snprintf(m->rejection.message, sizeof m->rejection.message,
                       "Could not load DataFrame %s from %.300s: %s", in->name, in->path, error);
        hc_launch_conclude(m, HC_STATUS_REJECTED, "%s", m->rejection.message);
        return true;
    }
    return false;
}

static const struct hc_enforced_by by_nothing = {
#define HC_ENFORCED(name) .name = "none",
#include "policy/limits.def"
};

int hc_launch_describe(struct hc_run *r, struct hc_manifest *m, int64_t ahead, struct hc_error *err)
{
    const struct hc_job *job = r->job;
    m->policy = r->policy;
    m->tenant = job->tenant;
    m->labels = job->labels;
    hc_usage_forget(&m->usage);
    m->usage.wall_us = m->usage.cpu_user_us = m->usage.cpu_system_us = 0;
    m->timing.build_us = m->timing.start_us = m->timing.run_us = m->timing.collect_us = -1;
    m->enforced_by = by_nothing;
    m->code_bytes = (int64_t)job->code_len;
    m->command = job->is_command ? job->code : NULL;
    hc_sha256_hex(job->code, job->code_len, m->code_sha256);
    hc_clock_text(ahead, m->started);
    if (job->job_id)
        (void)snprintf(m->job_id, sizeof m->job_id, "%s", job->job_id);
    else if (make_timed_name(m->started, "", "-", m->job_id, sizeof m->job_id, err) < 0)
        return -1;
    return 0;
}

int hc_launch_name_policy(struct hc_run *r, struct hc_manifest *m, struct hc_error *err)
{
    if (r->unnamed && hc_policy_begin(r->unnamed, err) < 0)
        return -1;
    const char *known = r->unnamed ? r->unnamed->base_sha256 : r->policy_hash;
    if (known) {
        memcpy(m->policy_sha256, known, sizeof m->policy_sha256);
        return 0;
    }
    if (hc_policy_hash(r->policy, m->policy_sha256, err) < 0)
        return -1;
    hc_policy_keep(r->policy, m->policy_sha256, r->job->tenant);
    return 0;
}

int hc_run(struct hc_run *r, struct hc_manifest *m, struct hc_error *err)
{
    struct hc_launch l;
    /* Read once, so that a clock that is set during the job cannot put its end before its start. */
    const int64_t ahead = hc_clock_ahead();
    int rc = hc_launch_describe(r, m, ahead, err);
    hc_launch_init(&l, r, m);
    r->dest = (struct hc_dest){.fd = -1};
    if (rc == 0)
        rc = hc_weak_read(err);
    if (rc == 0)
        rc = hc_redactor_new(&l.redactor, r->policy->rules, err);
    if (rc == 0) {
        bool rejected = hc_launch_check_size(r->job, r->policy, m) || check_frames(r->job, m);
        rc = rejected ? hc_launch_prepare_output(&l, err) : run_cell(&l, ahead, err);
    }
    if (rc < 0)
        hc_launch_conclude(m, HC_STATUS_LAUNCH_FAILED, "%.500s", err->text);
    if (rc < 0)
        hc_launch_redact(&l);
    m->exit_code = rc < 0 ? err->exit : hc_status_exit(m->status);
    m->tree_name = r->policy->tree;
    if (l.sup.over)
        hc_launch_leave(&l, r->parked);
    hc_launch_finish(&l);
    hc_clock_text(ahead, m->finished);
    return rc;
}

static int write_runner_result(struct hc_run *r, const struct hc_manifest *m, struct hc_error *err)
{
    char real[PATH_MAX];
    const char *dir = r->dest.path[0] == '/' || !realpath(r->dest.path, real) ? r->dest.path : real;
    hc_autobuf text = {0};
    if (hc_manifest_print_runner(m, dir, &text, err) < 0)
        return -1;
    return hc_dest_write(&r->dest, "_sandbox_result.json", text.data, text.len, err);
}

int hc_run_write_manifest(struct hc_run *r, struct hc_manifest *m, const void *key, size_t key_len,
                          struct hc_buf *text, struct hc_error *err)
{
    const bool kept = r->dest.path[0] && (r->job->output_dir || r->dest.fd >= 0);
    if (!kept && r->printing == HC_PRINT_NOTHING)
        return 0;
    if (!*m->policy_sha256 && hc_launch_name_policy(r, m, err) < 0)
        return -1;
    if (!kept && r->printing == HC_PRINT_PLAIN)
        return hc_manifest_print_plain(m, key, key_len, text, err);
    if (hc_manifest_print(m, key, key_len, text, err) < 0)
        return -1;
    if (!kept)
        return 0;
    if (hc_dest_write(&r->dest, "manifest.json", text->data, text->len, err) < 0)
        return -1;
    if (!r->job->runner_form)
        return 0;
    return write_runner_result(r, m, err);
}

void hc_run_finish(struct hc_run *r)
{
    hc_dest_finish(&r->dest);
}
