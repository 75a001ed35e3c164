/* siblings - cells of one zygote, by libcell:
 *
 * siblings park COUNT SPEC: parks COUNT cells, prints a line of JSON about them, waits for a line on standard
 * input, runs the job in one after the other, and prints the manifests.
 * siblings pass COUNT SPEC: the same, but that another process is handed the cells, and runs the jobs.
 * siblings again COUNT SPEC: as "park", and then the same with as many cells that are parked only then.
 * siblings each COUNT SPEC [JOB FD]...: as "park", but that each cell has a job of its own, a file like SPEC,
 * whose policy counts; all run at once, and what they print goes to descriptors, too. siblings bench COUNT
 * SPEC: parks a cell and runs the job in it, COUNT times; prints how long each took.
 *
 * SPEC is a job as JSON (hotcell(1), "Job specs"). Ends with 1 if the library fails; how a job ends is in its
 * manifest. */
#include "base/fd.h"
#include "base/log.h"
#include "base/clock.h"
#include "cell/policies.h"
#include "cell/run.h"
#include "cell/warm/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64

struct family {
    struct hc_job job;
    struct hc_policy policy;
    struct hc_zygote *zygote;
    char **jobs;     /* of "each" */
    int pass_stdout; /* 0: nowhere */
};

static int prepare(struct family *f, const char *spec, struct hc_error *err)
{
    hc_policy_init(&f->policy);
    if (hc_job_parse(&f->job, "spec", spec, strlen(spec), err) < 0 || hc_job_check(&f->job, err) < 0 ||
        hc_policy_load(&f->policy, f->job.policy ? f->job.policy : "default", hc_policies_read, NULL, err) <
            0)
        return -1;
    for (size_t i = 0; i < f->job.override_count; i++)
        if (hc_option_set(&f->policy, f->job.overrides[i].opt, f->job.overrides[i].text, err) < 0)
            return -1;
    return hc_zygote_start(&f->zygote, &f->policy, HC_ZYGOTE_TOP, err);
}

static int park(struct family *f, struct hc_parked *out, struct hc_error *err)
{
    char key[HC_SHA256_HEX];
    const struct hc_zygote_heir heir = {.key = key};
    if (hc_warm_key(&f->policy, f->job.tenant, key, err) < 0)
        return -1;
    return hc_zygote_park(f->zygote, &heir, out, err);
}

static void finish(struct family *f)
{
    hc_zygote_stop(f->zygote);
    hc_policy_finish(&f->policy);
    hc_job_finish(&f->job);
}

static int run(struct family *f, struct hc_parked *p, bool print, struct hc_error *err)
{
    struct hc_run r = {
        .job = &f->job,
        .policy = &f->policy,
        .pass_stdout = f->pass_stdout ? f->pass_stdout : -1,
        .pass_stderr = -1,
        .cancel_fd = -1,
        .default_dir = "hotcell-output",
        .parked = p,
    };
    struct hc_manifest *m = calloc(1, sizeof *m);
    hc_autobuf text = {0};
    if (!m)
        return hc_fail(err, ENOMEM, "run");
    (void)hc_run(&r, m, err);
    int rc = hc_run_write_manifest(&r, m, NULL, 0, &text, err);
    if (rc == 0 && print)
        (void)fwrite(text.data, 1, text.len, stdout);
    if (rc == 0 && !print && m->status != HC_STATUS_OK)
        rc = hc_fail(err, 0, "the job ended as %s: %s", hc_status_name(m->status), m->reason);
    hc_run_finish(&r);
    hc_manifest_finish(m);
    free(m);
    return rc;
}

static int run_all(struct family *f, struct hc_parked *cells, int count, struct hc_error *err)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < count; i++) {
        rc = run(f, &cells[i], true, err);
        (void)fflush(stdout);
    }
    return rc;
}

static int run_twice(struct family *f, struct hc_parked *cells, int count, struct hc_error *err)
{
    int rc = run_all(f, cells, count, err);
    for (int i = 0; i < count; i++)
        hc_parked_finish(&cells[i]);
    for (int i = 0; rc == 0 && i < count; i++)
        rc = park(f, &cells[i], err);
    return rc == 0 ? run_all(f, cells, count, err) : -1;
}

/* A process for each, with a job of its own. */
static int run_each(const struct family *f, struct hc_parked *cell, int i, struct hc_error *err)
{
    const char *path = f->jobs[2 * i];
    hc_autobuf text = {0};
    struct family own = {.policy = f->policy, .pass_stdout = atoi(f->jobs[2 * i + 1])};
    if (hc_read_file(AT_FDCWD, path, &text, 1 << 20, err) < 0 ||
        hc_job_parse(&own.job, path, text.data, text.len, err) < 0 || hc_job_check(&own.job, err) < 0)
        return -1;
    return run(&own, cell, true, err);
}

/* Its descriptors only: it goes on. */
static void let_go(struct hc_parked *p)
{
    for (size_t k = 0; k < HC_PARKED_FDS; k++)
        hc_close_fd(&p->fds[k]);
}

static int run_at_once(struct family *f, struct hc_parked *cells, int count, struct hc_error *err)
{
    pid_t pids[MOST];
    int rc = 0, status;
    for (int i = 0; i < count; i++) {
        if ((pids[i] = fork()) != 0)
            continue;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int k = 0; k < count; k++)
            if (k != i)
                let_go(&cells[k]);
        rc = run_each(f, &cells[i], i, err);
        if (rc < 0)
            (void)hc_report(err);
        (void)fflush(stdout);
        hc_parked_finish(&cells[i]);
        _exit(rc < 0);
    }
    for (int i = 0; i < count; i++)
        let_go(&cells[i]);
    for (int i = 0; i < count; i++)
        if (pids[i] < 0 || waitpid(pids[i], &status, 0) != pids[i] || status != 0)
            rc = hc_fail(err, 0, "job %d failed", i);
    return rc;
}

/* ---- from one process to another, over a SOCK_SEQPACKET socket ---- */

/* Descriptors of a cell, the last of which not all have. */
#define SENT_FDS (HC_PARKED_FDS + 1)

/* The sender's copy is finished by its owner. */
static int send_cell(int socket, const struct hc_parked *p, struct hc_error *err)
{
    struct hc_parked copy = *p;
    int fds[SENT_FDS];
    const size_t size = (p->cgroup.fd >= 0 ? SENT_FDS : HC_PARKED_FDS) * sizeof *fds;
    memcpy(fds, p->fds, sizeof p->fds);
    fds[HC_PARKED_FDS] = p->cgroup.fd;
    struct iovec part = {.iov_base = &copy, .iov_len = sizeof copy};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof fds)];
    } control = {.head = {.cmsg_len = CMSG_LEN(size), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.head), fds, size);
    struct msghdr packet = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(size)};
    return TEMP_FAILURE_RETRY(sendmsg(socket, &packet, MSG_NOSIGNAL)) < 0
               ? hc_fail(err, errno, "hand a parked cell over")
               : 0;
}

/* 1: end of file. */
static int receive_cell(int socket, struct hc_parked *out, struct hc_error *err)
{
    struct iovec part = {.iov_base = out, .iov_len = sizeof *out};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(SENT_FDS * sizeof(int))];
    } control = {0};
    struct msghdr packet = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    hc_parked_init(out);
    ssize_t n = TEMP_FAILURE_RETRY(recvmsg(socket, &packet, MSG_CMSG_CLOEXEC));
    int error = errno;
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&packet) : NULL;
    const size_t count = n == (ssize_t)sizeof *out && out->cgroup.fd >= 0 ? SENT_FDS : HC_PARKED_FDS;
    bool whole = n == (ssize_t)sizeof *out && c && c->cmsg_type == SCM_RIGHTS &&
                 c->cmsg_len == CMSG_LEN(count * sizeof(int));
    if (whole) {
        int fds[SENT_FDS] = {[HC_PARKED_FDS] = -1};
        memcpy(fds, CMSG_DATA(c), count * sizeof(int));
        memcpy(out->fds, fds, sizeof out->fds);
        out->cgroup.fd = fds[HC_PARKED_FDS];
        out->cgroup.parent_fd = -1;
        return 0;
    }
    hc_parked_init(out);
    return n == 0 ? 1 : hc_fail(err, n < 0 ? error : 0, "take a parked cell over");
}

/* In a process that holds nothing of the zygote's but what comes through the socket. */
static int run_received(struct family *f, int socket, struct hc_error *err)
{
    for (;;) {
        struct hc_parked p;
        int rc = receive_cell(socket, &p, err);
        if (rc == 0 && hc_parked_alive(&p))
            rc = run(f, &p, true, err);
        (void)fflush(stdout);
        hc_parked_finish(&p);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
}

static int run_elsewhere(struct family *f, struct hc_parked *cells, int count, struct hc_error *err)
{
    int pair[2], status = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return hc_fail(err, errno, "socketpair");
    pid_t pid = fork();
    if (pid == 0) {
        hc_close_fd(&pair[0]);
        for (int i = 0; i < count; i++)
            let_go(&cells[i]);
        int rc = run_received(f, pair[1], err);
        if (rc < 0)
            (void)hc_report(err);
        _exit(rc < 0);
    }
    hc_close_fd(&pair[1]);
    int rc = pid < 0 ? hc_fail(err, errno, "fork") : 0;
    for (int i = 0; rc == 0 && i < count; i++) {
        rc = send_cell(pair[0], &cells[i], err);
        let_go(&cells[i]);
    }
    hc_close_fd(&pair[0]);
    if (pid > 0 && waitpid(pid, &status, 0) == pid && status != 0 && rc == 0)
        rc = hc_fail(err, 0, "the other process failed");
    return rc;
}

typedef int runner(struct family *f, struct hc_parked *cells, int count, struct hc_error *err);

static int park_and_run(struct family *f, int count, runner *run_them, struct hc_error *err)
{
    struct hc_parked cells[MOST];
    char line[8];
    int rc = 0;
    for (int i = 0; i < MOST; i++)
        hc_parked_init(&cells[i]);
    for (int i = 0; rc == 0 && i < count; i++)
        rc = park(f, &cells[i], err);
    for (int i = 0; rc == 0 && i < count; i++)
        (void)printf("%s%d", i ? ", " : "[", cells[i].pid);
    (void)printf("]\n");
    (void)fflush(stdout);
    if (rc == 0 && !fgets(line, sizeof line, stdin))
        rc = hc_fail(err, 0, "nobody wants them to run");
    if (rc == 0)
        rc = run_them(f, cells, count, err);
    for (int i = 0; i < count; i++)
        hc_parked_finish(&cells[i]);
    return rc;
}

static long pss_of(pid_t pid)
{
    char path[64], word[64];
    long kb = 0, value;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *children = fopen(path, "re");
    int child = 0;
    if (!children || fscanf(children, "%d", &child) != 1)
        child = 0;
    if (children)
        (void)fclose(children);
    const pid_t both[] = {pid, child};
    for (size_t i = 0; i < 2 && both[i]; i++) {
        (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", both[i]);
        FILE *f = fopen(path, "re");
        while (f && fscanf(f, "%63s", word) == 1)
            if (strcmp(word, "Private_Dirty:") == 0 && fscanf(f, "%ld", &value) == 1)
                kb += value;
        if (f)
            (void)fclose(f);
    }
    return kb;
}

static int bench(struct family *f, int count, struct hc_error *err)
{
    for (int i = 0; i < count; i++) {
        struct hc_parked p;
        int64_t begun = hc_now_us();
        if (park(f, &p, err) < 0)
            return -1;
        int64_t parked = hc_now_us();
        long kb = pss_of(p.pid);
        int64_t starting = hc_now_us();
        int rc = run(f, &p, false, err);
        int64_t ended = hc_now_us();
        hc_parked_finish(&p);
        if (rc < 0)
            return -1;
        (void)printf("{\"park_us\": %lld, \"run_us\": %lld, \"private_kb\": %ld}\n",
                     (long long)(parked - begun), (long long)(ended - starting), kb);
    }
    return 0;
}

static runner *runner_called(const char *name)
{
    static const struct {
        const char *name;
        runner *run;
    } all[] = {{"park", run_all}, {"pass", run_elsewhere}, {"again", run_twice}, {"each", run_at_once}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].run;
    return NULL;
}

int main(int argc, char **argv)
{
    struct hc_error err = {0};
    hc_autobuf spec = {0};
    int count = argc >= 4 ? atoi(argv[2]) : 0;
    bool benching = argc == 4 && strcmp(argv[1], "bench") == 0;
    runner *run_them = argc >= 4 ? runner_called(argv[1]) : NULL;
    if (count < 1 || (!benching && (!run_them || count > MOST)) ||
        argc != 4 + (run_them == run_at_once ? 2 * count : 0)) {
        (void)fprintf(stderr, "usage: siblings park|pass|again|each|bench COUNT SPEC [JOB FD]...\n");
        return HC_EXIT_USAGE;
    }
    struct family f = {.jobs = argv + 4};
    int rc = hc_read_file(AT_FDCWD, argv[3], &spec, 1 << 20, &err);
    if (rc == 0)
        rc = prepare(&f, spec.data, &err);
    if (rc == 0)
        rc = benching ? bench(&f, count, &err) : park_and_run(&f, count, run_them, &err);
    if (rc < 0)
        (void)hc_report(&err);
    finish(&f);
    return rc < 0;
}
