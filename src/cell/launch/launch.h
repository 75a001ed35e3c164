/* launch.h - private to cell/launch: the struct that owns one launch's resources, and the stages of a
 * launch in their order. */
#ifndef HC_CELL_LAUNCH_LAUNCH_H
#define HC_CELL_LAUNCH_LAUNCH_H

#include "cell/cgroup.h"
#include "cell/ids.h"
#include "cell/run.h"
#include "cell/supervise/input_copies.h"
#include "cell/supervise/supervise.h"
#include "cell/tree.h"
#include "cell/workspace.h"
#include "inside/plan.h"

#define HC_ZYGOTE_FIRST_ID 2000 /* number inside a zygote's user namespace of the first uid of its block */
#define HC_ZYGOTE_IDS      640  /* most uids in a block, so most cells of a zygote that live at one time */

/* The standard input of a job, or of a session's run. (feed.c) */
struct hc_feed {
    int fd;    /* the cell's end of a pipe, owned; -1: none, or given to the cell */
    int pidfd; /* pidfd of the process that fills the pipe, owned; -1: there is none */
};

struct hc_launch {
    struct hc_run *run;    /* the job, its policy and its destinations; borrowed */
    struct hc_manifest *m; /* gets what the launcher finds out; borrowed */
    struct hc_plan plan;   /* mounts, policy and descriptors for the process that makes the cell; owned */
    struct hc_redactor *redactor; /* redactor of the policy; owned; NULL: nothing is redacted */
    struct hc_tree tree;          /* the cell's root; owned; root_fd -1: not open */
    int64_t program_bytes;        /* in the cell of a zygote: hc_launch_program_bytes of the zygote */
    struct hc_ids ids;            /* the cell's ids on the host; owned */
    struct hc_ids block; /* block of uids of a zygote as root: the first of the ids for its cells; owned */
    uid_t block_count;   /* number of ids in the block; 0: no block */
    struct hc_cgroup_parent parent; /* the place of the cell's cgroup, owned; fd -1: none */
    struct hc_cgroup cgroup;        /* the cell's cgroup, owned; fd -1: none */
    struct hc_cgroup_usage used;    /* what the cgroup counted, if there is one; set when the cell is dead */
    char no_cgroup[sizeof((struct hc_error *)0)->text]; /* why the cell has no cgroup, for messages */
    struct hc_supervisor sup;                           /* the running cell */
    struct hc_input_copies copies;                      /* inputs under their own names in /output */
    /* Struct sock_filter[] that the child sets first (a zygote: its own); owned. */
    struct hc_buf first_filter;
    /* The launcher's ends, owned; the child's ends are in `plan`. -1: not open. */
    int sync_fd, stdout_fd, stderr_fd, control_fd, status_fd;
    struct hc_originals originals[HC_MAX_DIRS]; /* what copies of directories were at first; owned */
    int space_fd;          /* directory with the copies of directories, owned; -1: there are none */
    int output_fd, tmp_fd; /* roots of the cell's /output and /tmp, owned; -1: not there yet */
    struct hc_feed feed;   /* standard input of the job; owned */
    char **env;            /* environment of the shim, NULL-terminated; owned */
    /* Time at which the launch began; at which the cell was built (CLOCK_MONOTONIC, us). */
    int64_t t_start, t_started;
    enum hc_collected collected; /* what ended the collection of files; set by hc_launch_keep */
};

/* Set up and free a launch, and steps that several stages share. (run.c) */
void hc_launch_init(struct hc_launch *l, struct hc_run *r, struct hc_manifest *m);
void hc_launch_finish(struct hc_launch *l); /* kills the cell's processes */
void hc_source_finish(struct hc_source *s); /* frees the path and closes the descriptors of a plan's source */
void hc_launch_supervisor(struct hc_launch *l); /* fill the "given" members of l->sup */

/* Fill the members of a manifest that are known before the launch, but for the policy's hash. */
int hc_launch_describe(struct hc_run *r, struct hc_manifest *m, int64_t ahead, struct hc_error *err);

/* Fill in the policy's hash, and store the policy if that was not done yet. */
int hc_launch_name_policy(struct hc_run *r, struct hc_manifest *m, struct hc_error *err);

/* True if the program is longer than limits.code, or the policy refuses its standard input or environment:
 * then it is rejected in `m` without a cell. */
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
/* Compare the tree with what its ID names, as the policy asks. (prepare.c) */
int hc_launch_check_tree(struct hc_launch *l, struct hc_error *err);
int hc_launch_prepare_input(struct hc_launch *l, const struct hc_input *in, int copy_fd,
                            struct hc_error *err);
int hc_launch_prepare_handover(struct hc_launch *l, struct hc_error *err);
int hc_launch_prepare_channels(struct hc_launch *l, struct hc_error *err);

/* Let the mount of `s`, which only its owner may read or write, show it as owned by the guest's per-job uid.
 * `remedy` is for the message if its file system cannot do that. (prepare.c) */
int hc_launch_map_owner(struct hc_launch *l, struct hc_source *s, const char *remedy, struct hc_error *err);
/* Open a path of the caller's (O_PATH; relative to the current directory). A symbolic link anywhere in it is
 * followed only if it belongs to the caller or to root: HC_EXIT_DATA. The caller owns the descriptor.
 * (host_path.c) */
int hc_launch_open_path(const char *path, struct hc_error *err);

/* Directories of the host. hc_launch_prepare_dirs: open and check them. hc_launch_clone_dirs: as root, clone
 * their mounts. hc_launch_allow_dirs: change a copy of the policy's rules, so that the guard lets the program
 * read and write them. (dirs.c) */
int hc_launch_prepare_dirs(struct hc_launch *l, struct hc_error *err);
int hc_launch_clone_dirs(struct hc_launch *l, struct hc_error *err);
int hc_launch_allow_dirs(const struct hc_launch *l, cJSON *rules, struct hc_error *err);

/* Layers of the tree. hc_launch_open_layers: their sources, with MOUNT_ATTR_* `attr`, and the manifest's
 * list. hc_launch_clone_layers: as root, clone their mounts. hc_launch_add_programs: append the directories
 * of their programs to a value of PATH, if the policy has commands. hc_launch_allow_layers: add their modules
 * to the list of modules that a copy of the policy's rules allows, if it has such a list. (tree_layers.c) */
int hc_launch_open_layers(struct hc_launch *l, uint64_t attr, struct hc_error *err);
int hc_launch_clone_layers(struct hc_launch *l, struct hc_error *err);
int hc_launch_add_programs(const struct hc_launch *l, struct hc_buf *path, struct hc_error *err);
int hc_launch_allow_layers(const struct hc_launch *l, cJSON *rules, struct hc_error *err);

/* Refuse a directory for writing in which there is more than files, directories and links. (shared_dirs.c) */
int hc_launch_check_shared(const struct hc_launch *l, const struct hc_source *s, struct hc_error *err);

/* Copies of directories. hc_launch_fill_copies: fill those in l->space_fd, while the cell is being built.
 * hc_launch_keep_changes: with the cell dead, find what the program changed, and put it into the directory
 * for results. (workspaces.c) */
int hc_launch_fill_copies(struct hc_launch *l, struct hc_error *err);
int hc_launch_keep_changes(struct hc_launch *l, struct hc_error *err);
/* While the processes of a session's cell are stopped: append what its programs have changed in all copies so
 * far, as a JSON list (hotcell-session(1), list_changes), to `out`. */
int hc_launch_list_changes(struct hc_launch *l, struct hc_buf *out, struct hc_error *err);
/* If the job has ended well, commit the program's copies of volumes to the volumes (volume.h). The manifest
 * says which volumes could not be kept. */
void hc_launch_keep_volumes(struct hc_launch *l);
/* Make the pipe for a job with standard input and fill it from `stdin_fd` (borrowed; 0: from the job's own
 * stdin_data): at once if it all fits, else in a process that does nothing else. Nothing waits for that
 * process: it ends when no process of the cell can read any more. hc_feed_stop kills it, and returns the
 * errno with which reading of `stdin_fd` ended too early, or 0. (feed.c) */
int hc_feed_start(struct hc_feed *f, const struct hc_job *job, int stdin_fd, struct hc_error *err);
int hc_feed_stop(struct hc_feed *f);

/* Find the place for the cell's cgroup. 1: it is l->parent; 0: there is none, and l->no_cgroup says why.
 * (limits.c) */
int hc_launch_find_place(struct hc_launch *l, struct hc_error *err);

/* Without a cgroup: check that the policy allows that, and add warnings to the manifest. (limits.c) */
int hc_launch_check_watch(struct hc_launch *l, struct hc_error *err);

/* Decide how each limit is enforced, and set the limits of the cgroup. With the cell dead,
 * hc_launch_count_usage fills in what it used. (limits.c) */
int hc_launch_prepare_limits(struct hc_launch *l, struct hc_error *err);
void hc_launch_count_usage(struct hc_launch *l);

/* Bytes of the files that each process of the cell may map whatever its job is: of the tree, its layers and
 * the shim. -1: unknown. hc_launch_file_pages: the most bytes of pages of files that a process of this job
 * may have; -1: unknown. (limits.c) */
int64_t hc_launch_program_bytes(const struct hc_launch *l);
int64_t hc_launch_file_pages(const struct hc_launch *l);

/* From clone3 to the running shim, every layer checked. (construct.c) */
int hc_launch_construct(struct hc_launch *l, struct hc_error *err);
void hc_launch_close_childs_ends(struct hc_launch *l);

/* Receive one message from a construction socket into `a`. The caller owns the descriptors that came with
 * it. Returns 0; 1 at end of file; -1 on error. (construct.c) */
struct hc_arrival {
    struct hc_sync msg;   /* the message */
    int fds[HC_SYNC_FDS]; /* descriptors that came with it; -1: none */
    pid_t sender;         /* pid of the sender on the host, if the socket has SO_PASSCRED; else 0 */
};
int hc_sync_receive(int fd, struct hc_arrival *a, struct hc_error *err);
int hc_sync_failure(struct hc_arrival *a,
                    struct hc_error *err); /* copies the error of an HC_SYNC_ERROR; always -1 */

/* Instead of preparing and constructing a cell: take over the resources of the warm cell `p`, check its
 * layers, fill /input and send it the job. (parked.c) */
int hc_launch_enter(struct hc_launch *l, struct hc_parked *p, struct hc_error *err);

/* With the cell built, and before its program starts: in capped mode, copy inputs into its /output under the
 * names of their files, as far as there is room. (input_copies.c) */
int hc_launch_copy_inputs(struct hc_launch *l, struct hc_error *err);
/* Copy the open file `from` to the place `place` of /output, below which nothing has run yet; missing
 * directories are made, and each part of `place` has at most HC_COPY_NAME bytes. *room, in bytes, becomes
 * smaller. 1: there is no room, or the place is taken. */
int hc_launch_copy_file(struct hc_launch *l, int from, const char *place, int64_t *room,
                        struct hc_error *err);
#define HC_COPY_NAME 200
/* For a job of the older runner's form, whose program reads what is in its output directory: copy the files
 * that were there before the job into /output, as far as there is room. A copy that the program leaves as it
 * is stays in the cell. (earlier_files.c) */
int hc_launch_copy_earlier_files(struct hc_launch *l, struct hc_error *err);
/* May an input have this name in /output? Names that hotcell uses itself and hidden names are refused. */
bool hc_launch_is_name(const char *name, const struct hc_policy *policy);
/* Create a file in a tmpfs of the cell, as the guest's uid. Returns a descriptor, or -1 with errno set. */
int hc_launch_create_as_guest(const struct hc_launch *l, int dir, const char *name, mode_t mode);

/* Switch this process's file system ids (setfsuid(2)) to the guest's: only the guest may create names in a
 * tmpfs of the cell, and root's rights over files do not hold meanwhile. Returns the ids that the process
 * had; hc_launch_become_launcher switches back to them, and leaves errno as it is. */
struct hc_own_ids {
    int uid, gid; /* the launcher's file system uid and gid */
};
struct hc_own_ids hc_launch_become_guest(const struct hc_launch *l);
void hc_launch_become_launcher(struct hc_own_ids own);

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
