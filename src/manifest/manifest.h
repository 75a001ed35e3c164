/* manifest.h - the manifest, a report on one job: the launcher's own observations, and under "guest" the
 * claims of the guest's process. The launcher fills the struct; the functions here print it as JSON and
 * verify its signature. */
#ifndef HC_MANIFEST_MANIFEST_H
#define HC_MANIFEST_MANIFEST_H

#include "base/hash.h"
#include "job/job.h"
#include "job/tool_call.h"
#include "manifest/changes.h"
#include "manifest/denial.h"
#include "manifest/samples.h"
#include "manifest/usage.h"

/* Text in a manifest is UTF-8 without NUL: other bytes become U+FFFD. A file name that is not UTF-8 or has
 * control characters is printed with these bytes as \xHH and its backslashes doubled, and with "escaped":
 * true beside it. */

#define HC_MANIFEST_VERSION 1 /* the member "version" of manifests */

enum hc_status {
#define HC_STATUS_ROW(id, ...) HC_STATUS_##id,
#include "manifest/status.def"
    HC_STATUSES
};

const char *hc_status_name(enum hc_status s); /* "ok", "error", ... */
int hc_status_exit(enum hc_status s); /* exit status of `hotcell run`; for launch_failed the error has it */
bool hc_status_is_limit(enum hc_status s); /* does it mean that a limit of the policy ended the job? */

/* An output stream of a job, standard output or standard error. */

struct hc_stream {
    struct hc_buf text; /* the output that was kept, raw bytes */
    int64_t bytes;      /* bytes that the guest wrote until the cell's end, kept or not */
    int64_t redactions; /* number of places that the policy's "redact" has replaced */
    bool truncated;     /* output was left out beyond the limit */
    bool shortened;     /* redact.max_chars has cut the output */
    bool withheld;      /* output was withheld, as the search for places to redact took too long */
    int pass_errno;     /* errno that stopped passing the output on; 0: none, or its reader went away */
};

/* A file or figure that the job has left. */
struct hc_artifact {
    char *path;       /* owned; relative to the output directory; raw bytes of the name */
    const char *mime; /* MIME type of a figure; static; NULL for plain files */
    int order;        /* position of a figure among the figures, in the order in which they were drawn */
    int64_t bytes;    /* size of the file */
    char sha256[HC_SHA256_HEX]; /* SHA-256 of its content */
};

/* A file in the output directory that the manifest does not list as an artifact. */
struct hc_skipped {
    char *path;         /* path relative to the output directory; owned */
    const char *reason; /* why it was skipped, a phrase; static */
};

/* A layer of isolation of the cell. */
struct hc_layer {
    const char *name;   /* name of the layer: "user_namespace", ...; static */
    bool on;            /* the layer is in force */
    char evidence[160]; /* how the launcher checked it, with the numbers that it read back */
};

/* An input as it was when the cell was built. All pointers are borrowed from the job. */
struct hc_manifest_input {
    const char *name;           /* name of the program's variable */
    const char *file;           /* base name of the file on the host */
    int64_t bytes;              /* size of the file */
    char sha256[HC_SHA256_HEX]; /* SHA-256 of its content */
};

/* A directory of the host that the program found in its cell. */
struct hc_manifest_dir {
    char *host;           /* real path on the host, behind all links; owned */
    char *place;          /* path in the cell; owned */
    const char *mode;     /* what the program might do with it (hc_dir_mode_name); static */
    char *volume;         /* name of the tenant's volume that it is a copy of; owned. NULL: none */
    bool kept;            /* the directory's content was committed to the volume */
    char *not_kept;       /* why it was not, a phrase; owned. NULL: no reason is known */
    int64_t bytes, files; /* `kept`: bytes of the volume's files; number of files, directories and links */
    struct hc_changes *changes; /* changes that the program made in a copy; owned. NULL: it had no copy, or
                                   the launch failed */
};
enum { /* numbers of the rows of layer.def */
#define HC_LAYER_ROW(name, text) HC_LAYER_##name,
#include "manifest/layer.def"
       HC_MAX_LAYERS
};

/* The layers of a tree. */
struct hc_manifest_layers {
    struct hc_manifest_layer {
        char name[HC_LAYER_NAME];   /* name of the layer */
        char sha256[HC_SHA256_HEX]; /* the layer's ID */
    } list[HC_MAX_TREE_LAYERS];
    size_t count; /* used entries of `list` */
};

struct hc_manifest {
    char job_id[72];       /* ID of the job: its own, or one made from the time and a random number */
    char context[72];      /* the context of a session's run; empty: it is no such run */
    const char *tenant;    /* name of the tenant; borrowed; NULL: none */
    const cJSON *labels;   /* labels of the job, an object of strings; borrowed; NULL: none */
    enum hc_status status; /* how the job ended */
    int exit_code;         /* exit status of `hotcell run` */
    char reason[512];      /* why the job has this status, one sentence; empty for ok */
    bool partial;          /* there are results, but they may not be all */
    struct {
        bool set; /* the check refused the program; else the other members are unset */
        char rule[64], message[512], hint[256]; /* texts of the first finding; an empty hint: none */
        int line, column;                       /* place of that finding in the program, from 1; 0: none */
        cJSON *findings; /* all findings, this one first (finding.h). Owned; NULL: there is only this one */
        int64_t more;    /* number of findings that are not listed */
    } rejection;         /* why the check refused the program */
    cJSON *runs;         /* the runs of a session: a list of objects. Owned; NULL: none */
    cJSON *check; /* findings for which the program was not refused (hc_checked_parse). Owned; NULL: none */
    struct {
        bool known;            /* `signaled` and `value` are set */
        bool signaled;         /* a signal ended the interpreter; else it exited */
        int value;             /* exit status or signal number */
    } process;                 /* how the interpreter ended, as pid 1 of the cell saw it */
    struct hc_stream out, err; /* standard output and standard error of the cell */
    char *guest; /* the report of the guest's process, a JSON object as text; owned. NULL: none came. Left out
                  * with a warning if hc_guest_report_check refuses it */
    struct hc_artifact *figures, *files; /* figures and plain files that were collected; owned arrays */
    size_t figure_count, file_count;     /* number of entries of `figures`; of `files` */
    struct hc_skipped *skipped;          /* files that were not collected; owned array */
    size_t skipped_count;                /* number of entries of `skipped` */
    int64_t skipped_more;                /* number of skipped files that are not listed */
    int64_t code_bytes;                  /* size of the program */
    char code_sha256[HC_SHA256_HEX];     /* SHA-256 of the program as the caller gave it; empty: there is no
                                            program */
    const char
        *command;    /* arguments of a job that is a command, a list in JSON; borrowed; NULL: it is none */
    char *code_path; /* the saved program, relative to the output directory; owned; NULL: not saved */
    bool had_earlier_files; /* the cell had copies of files that were in the output directory before; not
                               printed */
    int64_t kept_bytes;     /* sizes of the saved program and of its record together; not printed */
    /* Sentences about the job; one of them may begin with HC_CODE_LOST. The array has room for each sentence
     * that a launch can write, so that those that a program causes never take the place of others. */
    char warnings[25][256];
    size_t warning_count;      /* used entries of `warnings` */
    struct hc_denials denials; /* actions that were refused */
    struct hc_tool_log tools;  /* calls of tools, in their order */
    struct hc_job_usage usage; /* resources that the job used in all */
    struct hc_samples samples; /* resources that the job used at several times */
    struct {
        int64_t build_us, start_us, run_us, collect_us; /* microseconds of each phase; -1: not reached */
    } timing;
    const struct hc_policy *policy;    /* the effective policy, borrowed */
    char policy_sha256[HC_SHA256_HEX]; /* hash of `policy` (hc_policy_hash) */
    char policy_name[64]; /* name of the policy in a manifest that was read from JSON, where `policy` is NULL;
                             else "" */
    struct hc_enforced_by enforced_by;     /* what enforced the limits */
    struct hc_layer layers[HC_MAX_LAYERS]; /* layers of isolation, in the order of their checks */
    size_t layer_count;                    /* used entries of `layers` */
    struct hc_manifest_layers
        tree_layers;       /* layers of the tree, in the order in which modules are looked for */
    const char *tree_name; /* the tree as the policy names it; borrowed; NULL: the manifest has no tree */
    char tree_sha256[HC_SHA256_HEX]; /* the tree's ID; empty: no tree was opened */
    enum hc_tree_check tree_checked; /* how thoroughly the tree was compared with its record from the build */
    struct hc_manifest_input inputs[HC_MAX_INPUTS]; /* the job's inputs, in their order */
    size_t input_count;                             /* used entries of `inputs` */
    struct hc_manifest_dir dirs[HC_MAX_DIRS]; /* directories of the host in the cell, in the job's order */
    size_t dir_count;                         /* used entries of `dirs` */
    char started[40], finished[40]; /* when the launch began and the job ended: RFC 3339, UTC, milliseconds */
};

/* The beginning of the warning that the program could not be saved with its results. hc_manifest_code_lost
 * returns the rest of that warning, or NULL if there is none. */
#define HC_CODE_LOST "save the code: "
const char *hc_manifest_code_lost(const struct hc_manifest *m);

/* Tell of the files in the output directory that were not kept: `say` gets a warning for each reason, with
 * the first names, and what the writer of the program can do. Names are the guest's, made plain. */
void hc_manifest_left_out(const struct hc_manifest *m, void (*say)(void *ctx, const char *text), void *ctx);

void hc_manifest_finish(struct hc_manifest *m);

/* The findings of a rejection as a JSON list, which the caller owns; empty without a rejection. NULL: no
 * memory. */
cJSON *hc_manifest_findings(const struct hc_manifest *m);

/* Append the manifest to `out` as indented JSON text, ending in a newline. It is signed with `key` (NULL: it
 * is not) by HMAC-SHA256 over the canonical form without "signature". */
int hc_manifest_print(const struct hc_manifest *m, const void *key, size_t key_len, struct hc_buf *out,
                      struct hc_error *err);

/* Append it without indentation and final newline, for programs: this takes a third of the time. */
int hc_manifest_print_plain(const struct hc_manifest *m, const void *key, size_t key_len, struct hc_buf *out,
                            struct hc_error *err);

/* Indent a manifest that was printed plain: two blanks per level, but one line for each member of "guest", so
 * that a report within limits.value takes no more bytes in the manifest, however deep its values are. */
int hc_manifest_indent(const char *text, size_t len, struct hc_buf *out, struct hc_error *err);

/* Append the result in the older runner's form, JSON with four keys: exit_code, figure_paths, code_paths,
 * truncated. Paths begin with `dir`, the output directory. */
int hc_manifest_print_runner(const struct hc_manifest *m, const char *dir, struct hc_buf *out,
                             struct hc_error *err);

/* Check a manifest's signature. 0: it is signed with this key. -1: HC_EXIT_GUEST if the signature does not
 * match or is missing, HC_EXIT_DATA if `j` is not a manifest. */
int hc_manifest_verify(const struct hc_json *j, const void *key, size_t key_len, struct hc_error *err);

/* Make a JSON string of a file's name, owned by the caller; *escaped: whether it had to be escaped (see the
 * top of this file). NULL: no memory. */
cJSON *hc_name_print(const char *name, bool *escaped);

/* Undo the escapes of a file's name that is listed as "escaped", in place: the result is never longer. */
void hc_name_unescape(char *name);

#endif
