/* jobs - one process that runs many jobs by libcell, as a daemon would: jobs COUNT SPEC
 *
 * SPEC is a job as JSON (hotcell-job(5)). Prints, after the first tenth of the jobs and at the end, what the
 * process holds:
 * {"jobs", "descriptors", "memory" (bytes), "mappings", "children"}. Ends with 1 at the first job that is not
 * ok. */
#include "base/fd.h"
#include "base/log.h"
#include "cell/policies.h"
#include "cell/run.h"
#include "job/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run_one(const char *spec, struct hc_error *err)
{
    struct hc_job job = {0};
    struct hc_policy policy;
    hc_policy_init(&policy);
    struct hc_manifest *m = calloc(1, sizeof *m);
    struct hc_run run = {
        .job = &job,
        .policy = &policy,
        .pass_stdout = -1,
        .pass_stderr = -1,
        .cancel_fd = -1,
        .default_dir = "hotcell-output",
    };
    hc_autobuf text = {0};
    int rc = !m || hc_job_parse(&job, "spec", spec, strlen(spec), err) < 0 ? -1 : hc_job_check(&job, err);
    if (rc == 0)
        rc = hc_policy_load(&policy, job.policy ? job.policy : "default", hc_policies_read, NULL, err);
    for (size_t i = 0; rc == 0 && i < job.override_count; i++)
        rc = hc_option_set(&policy, job.overrides[i].opt, job.overrides[i].text, err);
    if (rc == 0) {
        rc = hc_run(&run, m, err);
        if (hc_run_write_manifest(&run, m, NULL, 0, &text, err) < 0)
            rc = -1;
        if (rc == 0 && m->status != HC_STATUS_OK)
            rc = hc_fail(err, 0, "the job ended as %s: %s", hc_status_name(m->status), m->reason);
        hc_run_finish(&run);
        hc_manifest_finish(m);
    }
    free(m);
    hc_policy_finish(&policy);
    hc_job_finish(&job);
    return rc;
}

static int entries(const char *path)
{
    DIR *dir = opendir(path);
    int count = 0;
    while (dir && readdir(dir))
        count++;
    if (dir)
        (void)closedir(dir);
    return count;
}

static int lines(const char *path)
{
    FILE *file = fopen(path, "re");
    int count = 0;
    for (int c; file && (c = fgetc(file)) != EOF;)
        count += c == '\n';
    if (file)
        (void)fclose(file);
    return count;
}

static void tell(long jobs)
{
    char text[4096] = "";
    (void)hc_read_attr(AT_FDCWD, "/proc/self/statm", text, sizeof text);
    char *resident = strchr(text, ' ');
    bool children = waitpid(-1, NULL, WNOHANG) >= 0;
    (void)printf(
        "{\"jobs\": %ld, \"descriptors\": %d, \"memory\": %ld, \"mappings\": %d, \"children\": %s}\n", jobs,
        entries("/proc/self/fd"), resident ? strtol(resident, NULL, 10) * sysconf(_SC_PAGESIZE) : 0,
        lines("/proc/self/maps"), children ? "true" : "false");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    if (count < 10)
        return HC_EXIT_USAGE;
    (void)signal(SIGPIPE, SIG_IGN);
    for (long i = 1; i <= count; i++) {
        struct hc_error err = {0};
        if (run_one(argv[2], &err) < 0)
            return hc_report(&err), HC_EXIT_GUEST;
        if (i == count / 10 || i == count)
            tell(i);
    }
    return 0;
}
