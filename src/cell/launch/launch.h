/* launch.h - one launch, for the files that make it up: what it owns, and its stages in their order. */
#ifndef HC_CELL_LAUNCH_LAUNCH_H
#define HC_CELL_LAUNCH_LAUNCH_H

#include "cell/cgroup.h"
#include "cell/ids.h"
#include "cell/run.h"
#include "cell/supervise/supervise.h"
#include "cell/tree.h"
#include "inside/plan.h"

#define HC_ZYGOTE_FIRST_ID 2000 /* what a zygote calls the first uid of its block */
#define HC_ZYGOTE_IDS      256  /* in it, at most: cells that live at one time */

struct hc_launch {
    struct hc_run *run;
    struct hc_manifest *m;
    struct hc_plan plan;
    struct hc_redactor *redactor; /* owned; NULL: nothing is redacted */
    struct hc_tree tree;
    struct hc_ids ids;
    struct hc_ids block; /* of a zygote as root: the first of those for its cells */
    uid_t block_count;
    struct hc_cgroup_parent parent;
    struct hc_cgroup cgroup;
    struct hc_cgroup_usage used;                        /* of the cgroup, if there is one */
    char no_cgroup[sizeof((struct hc_error *)0)->text]; /* why there is none */
    struct hc_supervisor sup;
    struct hc_buf first_filter;
    int sync_fd, stdout_fd, stderr_fd, control_fd, status_fd; /* our ends; the child's are in the plan */
    int output_fd, tmp_fd;
    char **env;
    int64_t t_start, t_started;
    enum hc_collected collected; /* once what is there has been kept */
};

/* What belongs to no stage. (run.c) */
void hc_launch_init(struct hc_launch *l, struct hc_run *r, struct hc_manifest *m);
void hc_launch_finish(struct hc_launch *l);     /* kills what is left */
void hc_launch_supervisor(struct hc_launch *l); /* fill what is given to it */

/* What a manifest says before anything has happened. */
int hc_launch_describe(struct hc_run *r, struct hc_manifest *m, int64_t ahead, struct hc_error *err);

/* What is decided without a cell: true if the program is rejected for its length. */
bool hc_launch_check_size(const struct hc_job *job, const struct hc_policy *policy, struct hc_manifest *m);

/* From when on files are this job's, and take what is there since (nanoseconds of CLOCK_REALTIME). */
int64_t hc_launch_first_stamp(const struct hc_policy *policy);
int hc_launch_keep(struct hc_launch *l, int64_t since_ns, struct hc_error *err);
void hc_launch_redact(struct hc_launch *l);

/* Resolve, open and make everything that the cell needs, up to its cgroup. (prepare.c) */
int hc_launch_prepare(struct hc_launch *l, struct hc_error *err);
int hc_launch_prepare_output(struct hc_launch *l, struct hc_error *err);

/* Parts of it, for zygotes and for jobs in cells that are there: all that a zygote needs; an input, which is
 * copied into `copy_fd` if that is none of -1; the handover, into plan.handover_fd; the channels. (prepare.c)
 */
int hc_launch_prepare_zygote(struct hc_launch *l, struct hc_error *err);
int hc_launch_prepare_input(struct hc_launch *l, const struct hc_input *in, int copy_fd,
                            struct hc_error *err);
int hc_launch_prepare_handover(struct hc_launch *l, struct hc_error *err);
int hc_launch_prepare_channels(struct hc_launch *l, struct hc_error *err);

/* 1: cells get their cgroups in l->parent; 0: nowhere, and l->no_cgroup says why. Then find out who enforces
 * the limits, and set those of the cgroup; with the cell dead, what it used. (limits.c) */
int hc_launch_find_place(struct hc_launch *l, struct hc_error *err);
/* Where no cgroup counts: whether the policy may do without, and what the manifest says then. */
int hc_launch_check_watch(struct hc_launch *l, struct hc_error *err);
int hc_launch_prepare_limits(struct hc_launch *l, struct hc_error *err);
void hc_launch_count_usage(struct hc_launch *l);

/* From clone3 to the running shim, every layer checked. (construct.c) */
int hc_launch_construct(struct hc_launch *l, struct hc_error *err);
void hc_launch_close_childs_ends(struct hc_launch *l);

/* One message of a construction socket: the descriptors that came along, owned by the caller from here on,
 * and if the socket has SO_PASSCRED, who sent it. 1: end of file. (construct.c) */
struct hc_arrival {
    struct hc_sync msg;
    int fds[HC_SYNC_FDS]; /* -1: none */
    pid_t sender;
};
int hc_sync_receive(int fd, struct hc_arrival *a, struct hc_error *err);
int hc_sync_failure(struct hc_arrival *a, struct hc_error *err); /* of HC_SYNC_ERROR; -1 */

/* In the place of preparing and constructing a cell: take over what `p` owns, check its layers, fill /input
 * and give it the job. (parked.c) */
int hc_launch_enter(struct hc_launch *l, struct hc_parked *p, struct hc_error *err);

/* A program that is over (early_exit.h): what still dies is for whoever finishes `p`. (parked.c) */
void hc_launch_leave(struct hc_launch *l, struct hc_parked *p);

/* With the cell dead: status and reason from what the kernel, the timers and the shim's first process say;
 * what the guest's process said goes under "guest". -1: it was our failure, not the guest's. (outcome.c) */
int hc_launch_set_outcome(struct hc_launch *l, struct hc_error *err);

/* The reason of a job or session that was told to end, in `text` or static. (outcome.c) */
const char *hc_launch_why_cancelled(const struct hc_run *run, char text[HC_CANCEL_TEXT + 1]);

/* For the manifest. (outcome.c) */
void hc_launch_warn(struct hc_manifest *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hc_launch_conclude(struct hc_manifest *m, enum hc_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
