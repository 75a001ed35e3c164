/* launch.h - private to cell/launch: the struct that owns one launch's resources, and the stages of a
 * launch in their order. */
#ifndef HC_CELL_LAUNCH_LAUNCH_H
#define HC_CELL_LAUNCH_LAUNCH_H

#include "cell/cgroup.h"
#include "cell/ids.h"
#include "cell/run.h"
#include "cell/supervise/supervise.h"
#include "cell/tree.h"
#include "inside/plan.h"

#define HC_ZYGOTE_FIRST_ID 2000 /* number inside a zygote's user namespace of the first uid of its block */
#define HC_ZYGOTE_IDS      256  /* most uids in a block, so most cells of a zygote that live at one time */

struct hc_launch {
    struct hc_run *run;
    struct hc_manifest *m;
    struct hc_plan plan;
    struct hc_redactor *redactor; /* owned; NULL: nothing is redacted */
    struct hc_tree tree;
    struct hc_ids ids;
    struct hc_ids block; /* of a zygote as root: the first of the ids for its cells */
    uid_t block_count;
    struct hc_cgroup_parent parent;
    struct hc_cgroup cgroup;
    struct hc_cgroup_usage used;                        /* of the cgroup, if there is one */
    char no_cgroup[sizeof((struct hc_error *)0)->text]; /* why the cell has no cgroup */
    struct hc_supervisor sup;
    struct hc_buf first_filter;
    int sync_fd, stdout_fd, stderr_fd, control_fd,
        status_fd; /* the launcher's ends, owned; the child's ends are in `plan` */
    int output_fd, tmp_fd;
    char **env;
    int64_t t_start, t_started; /* when the launch began, and when the cell was built (us, CLOCK_MONOTONIC) */
    enum hc_collected collected; /* set by hc_launch_keep */
};

/* Set up and free a launch, and steps that several stages share. (run.c) */
void hc_launch_init(struct hc_launch *l, struct hc_run *r, struct hc_manifest *m);
void hc_launch_finish(struct hc_launch *l); /* kills the cell's processes */
void hc_source_finish(struct hc_source *s);
void hc_launch_supervisor(struct hc_launch *l); /* fill the "given" members of l->sup */

/* Fill the members of a manifest that are known before the launch. */
int hc_launch_describe(struct hc_run *r, struct hc_manifest *m, int64_t ahead, struct hc_error *err);

/* True if the program is longer than limits.code: then it is rejected in `m` without a cell. */
bool hc_launch_check_size(const struct hc_job *job, const struct hc_policy *policy, struct hc_manifest *m);

/* hc_launch_first_stamp: the time from which on changed files are this job's (nanoseconds of
 * CLOCK_REALTIME). hc_launch_keep: collect the files changed since `since_ns`, and save the program if the
 * job asks for it. hc_launch_redact: redact the texts of the manifest. */
int64_t hc_launch_first_stamp(const struct hc_policy *policy);
int hc_launch_keep(struct hc_launch *l, int64_t since_ns, struct hc_error *err);
void hc_launch_redact(struct hc_launch *l);

/* Resolve, open and make everything that the cell needs, up to its cgroup. (prepare.c) */
int hc_launch_prepare(struct hc_launch *l, struct hc_error *err);
int hc_launch_prepare_output(struct hc_launch *l, struct hc_error *err);

/* Parts of hc_launch_prepare, for zygotes and for jobs in warm cells: everything that a zygote needs; one
 * input, which is copied into `copy_fd` unless that is -1; the handover, into plan.handover_fd; the
 * channels. (prepare.c) */
int hc_launch_prepare_zygote(struct hc_launch *l, struct hc_error *err);
int hc_launch_prepare_input(struct hc_launch *l, const struct hc_input *in, int copy_fd,
                            struct hc_error *err);
int hc_launch_prepare_handover(struct hc_launch *l, struct hc_error *err);
int hc_launch_prepare_channels(struct hc_launch *l, struct hc_error *err);

/* Let the mount of `s`, which only its owner may read or write, show it as owned by the guest's per-job uid.
 * `remedy` is for the message if its file system cannot do that. (prepare.c) */
int hc_launch_map_owner(struct hc_launch *l, struct hc_source *s, const char *remedy, struct hc_error *err);

/* Directories of the host. hc_launch_prepare_dirs: open and check them. hc_launch_clone_dirs: as root, clone
 * their mounts. hc_launch_rules_with_dirs: the policy's rules, in which the guard lets the program read them;
 * the caller owns the object, NULL: no memory. (dirs.c) */
int hc_launch_prepare_dirs(struct hc_launch *l, struct hc_error *err);
int hc_launch_clone_dirs(struct hc_launch *l, struct hc_error *err);
cJSON *hc_launch_rules_with_dirs(const struct hc_launch *l);

/* Find the place for the cell's cgroup. 1: it is l->parent; 0: there is none, and l->no_cgroup says why.
 * (limits.c) */
int hc_launch_find_place(struct hc_launch *l, struct hc_error *err);

/* Without a cgroup: check that the policy allows that, and add warnings to the manifest. (limits.c) */
int hc_launch_check_watch(struct hc_launch *l, struct hc_error *err);

/* Decide how each limit is enforced, and set the limits of the cgroup. With the cell dead,
 * hc_launch_count_usage fills in what it used. (limits.c) */
int hc_launch_prepare_limits(struct hc_launch *l, struct hc_error *err);
void hc_launch_count_usage(struct hc_launch *l);

/* From clone3 to the running shim, every layer checked. (construct.c) */
int hc_launch_construct(struct hc_launch *l, struct hc_error *err);
void hc_launch_close_childs_ends(struct hc_launch *l);

/* Receive one message from a construction socket into `a`. The caller owns the descriptors that came with
 * it. Returns 1 at end of file. (construct.c) */
struct hc_arrival {
    struct hc_sync msg;
    int fds[HC_SYNC_FDS]; /* -1: none */
    pid_t sender;         /* if the socket has SO_PASSCRED; else 0 */
};
int hc_sync_receive(int fd, struct hc_arrival *a, struct hc_error *err);
int hc_sync_failure(struct hc_arrival *a,
                    struct hc_error *err); /* copies the error of an HC_SYNC_ERROR; always -1 */

/* Instead of preparing and constructing a cell: take over the resources of the warm cell `p`, check its
 * layers, fill /input and send it the job. (parked.c) */
int hc_launch_enter(struct hc_launch *l, struct hc_parked *p, struct hc_error *err);

/* After an early exit (early_exit.h): give the dying cell's resources back to `p`, whose owner finishes
 * them. (parked.c) */
void hc_launch_leave(struct hc_launch *l, struct hc_parked *p);

/* With the cell dead: set status and reason from the kernel, the timers and the report of the shim's first
 * process; the report of the guest's process goes under "guest". -1: hotcell failed, not the guest.
 * (outcome.c) */
int hc_launch_set_outcome(struct hc_launch *l, struct hc_error *err);

/* Why a job or session was cancelled, in `text` or static. (outcome.c) */
const char *hc_launch_why_cancelled(const struct hc_run *run, char text[HC_CANCEL_TEXT + 1]);

/* Add a warning to the manifest; set its status and reason. (outcome.c) */
void hc_launch_warn(struct hc_manifest *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hc_launch_conclude(struct hc_manifest *m, enum hc_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
