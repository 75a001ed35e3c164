/* siblings - cells of one zygote, by libhotcell:
 *
 *   siblings park COUNT SPEC    parks COUNT cells, prints a line of JSON about them, waits for a line on
 * standard input, runs the job in one after the other, and prints the manifests siblings bench COUNT SPEC
 * parks a cell and runs the job in it, COUNT times; prints how long each took
 *
 * SPEC is a job as JSON (hotcell(1), "Job specs"). Ends with 1 if the library fails; how a job ends is in its
 * manifest. */
#include "base/fd.h"
#include "base/log.h"
#include "cell/policies.h"
#include "cell/run.h"
#include "cell/supervise.h"
#include "cell/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64

struct family {
    struct hc_job job;
    struct hc_policy policy;
    struct hc_zygote *zygote;
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
    return hc_zygote_start(&f->zygote, &f->policy, f->job.tenant, err);
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
        .pass_stdout = -1,
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

/* In a process that holds nothing of the zygote's but what comes through the socket. */
static int run_received(struct family *f, int socket, struct hc_error *err)
{
    for (;;) {
        struct hc_parked p;
        int rc = hc_parked_receive(socket, &p, err);
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
            for (size_t k = 0; k < HC_PARKED_FDS; k++)
                hc_close_fd(&cells[i].fds[k]);
        int rc = run_received(f, pair[1], err);
        if (rc < 0)
            (void)hc_report(err);
        _exit(rc < 0);
    }
    hc_close_fd(&pair[1]);
    int rc = pid < 0 ? hc_fail(err, errno, "fork") : 0;
    for (int i = 0; rc == 0 && i < count; i++) {
        rc = hc_parked_send(pair[0], &cells[i], err);
        for (size_t k = 0; k < HC_PARKED_FDS; k++)
            hc_close_fd(&cells[i].fds[k]);
    }
    hc_close_fd(&pair[0]);
    if (pid > 0 && waitpid(pid, &status, 0) == pid && status != 0 && rc == 0)
        rc = hc_fail(err, 0, "the other process failed");
    return rc;
}

static int park_and_run(struct family *f, int count, bool elsewhere, struct hc_error *err)
{
    struct hc_parked cells[MOST];
    char line[8];
    int rc = 0;
    for (int i = 0; i < MOST; i++)
        hc_parked_init(&cells[i]);
    for (int i = 0; rc == 0 && i < count; i++)
        rc = hc_zygote_park(f->zygote, &cells[i], err);
    for (int i = 0; rc == 0 && i < count; i++)
        (void)printf("%s%d", i ? ", " : "[", cells[i].pid);
    (void)printf("]\n");
    (void)fflush(stdout);
    if (rc == 0 && !fgets(line, sizeof line, stdin))
        rc = hc_fail(err, 0, "nobody wants them to run");
    if (rc == 0)
        rc = elsewhere ? run_elsewhere(f, cells, count, err) : run_all(f, cells, count, err);
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
        if (hc_zygote_park(f->zygote, &p, err) < 0)
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

int main(int argc, char **argv)
{
    struct hc_error err = {0};
    struct family f = {0};
    hc_autobuf spec = {0};
    int count = argc == 4 ? atoi(argv[2]) : 0;
    bool benching = argc == 4 && strcmp(argv[1], "bench") == 0;
    if (count < 1 || (!benching && count > MOST)) {
        (void)fprintf(stderr, "usage: siblings park|pass|bench COUNT SPEC\n");
        return HC_EXIT_USAGE;
    }
    int rc = hc_read_file(AT_FDCWD, argv[3], &spec, 1 << 20, &err);
    if (rc == 0)
        rc = prepare(&f, spec.data, &err);
    if (rc == 0)
        rc = benching ? bench(&f, count, &err) : park_and_run(&f, count, strcmp(argv[1], "pass") == 0, &err);
    if (rc < 0)
        (void)hc_report(&err);
    finish(&f);
    return rc < 0;
}
