/* manifest.h - the account of one job: what the launcher saw, and beside it, under "guest", what the guest's
 * process said of itself. The struct is filled by the launcher; here it becomes JSON and is checked again. */
#ifndef HC_MANIFEST_MANIFEST_H
#define HC_MANIFEST_MANIFEST_H

#include "base/hash.h"
#include "job/job.h"
#include "job/tool_call.h"
#include "manifest/denial.h"
#include "manifest/samples.h"
#include "manifest/usage.h"

/* Text in a manifest is UTF-8 without NUL: both become U+FFFD. A file name that is not UTF-8 or holds control
 * characters has these bytes as \xHH and its backslashes doubled, and "escaped": true stands beside it. */

#define HC_MANIFEST_VERSION 1

enum hc_status {
#define HC_STATUS_ROW(id, ...) HC_STATUS_##id,
#include "manifest/status.def"
    HC_STATUSES
};

const char *hc_status_name(enum hc_status s); /* "ok", "error", ... */
int hc_status_exit(enum hc_status s);         /* exit status of `hotcell run`; launch_failed: see its error */
bool hc_status_is_limit(enum hc_status s);    /* a limit of the policy ended the job */

struct hc_stream {
    struct hc_buf text; /* what was kept, raw bytes */
    int64_t bytes;      /* what the guest wrote, kept or not (counted until the cell's end) */
    int64_t redactions; /* by the policy's "redact" */
    bool truncated;
    bool shortened; /* by redact.max_chars */
    bool withheld;  /* some was withheld because looking for what is to be redacted took too long */
    int pass_errno; /* why it could not be passed on to the end; 0: it was, or its reader went away */
};

struct hc_artifact {
    char *path;       /* relative to the output directory; raw bytes of the name */
    const char *mime; /* static; NULL for plain files */
    int64_t bytes;
    char sha256[HC_SHA256_HEX];
};

struct hc_skipped {
    char *path;
    const char *reason; /* static */
};

struct hc_layer {
    const char *name; /* "user_namespace", ... static */
    bool on;
    char evidence[160]; /* how it was checked, with the numbers read back */
};

struct hc_manifest_input {
    const char *name;
    const char *file; /* base name on the host */
    int64_t bytes;
    char sha256[HC_SHA256_HEX];
};

enum { /* rows of layer.def */
#define HC_LAYER_ROW(name, text) HC_LAYER_##name,
#include "manifest/layer.def"
       HC_MAX_LAYERS
};

struct hc_manifest {
    char job_id[72];
    const char *tenant;  /* borrowed, may be NULL */
    const cJSON *labels; /* borrowed, may be NULL */
    enum hc_status status;
    int exit_code;    /* what `hotcell run` exits with */
    char reason[512]; /* one sentence; empty for ok */
    bool partial;
    struct {
        bool set;
        char rule[64], message[512], hint[256];
        int line, column; /* 0 if it has none */
        cJSON *findings;  /* all of them, the first being this one (manifest/finding.h). Owned; NULL: this
                             alone */
        int64_t more;     /* beyond those */
    } rejection;
    cJSON *runs;  /* of a session as a whole: list of objects. Owned; NULL: none */
    cJSON *check; /* what was found beside (hc_checked_parse). Owned; NULL: nothing */
    struct {
        bool known;
        bool signaled; /* else exited */
        int value;     /* exit status or signal number */
    } process;         /* the interpreter, as pid 1 of the cell saw it end */
    struct hc_stream out, err;
    char *guest; /* JSON object text; NULL if the guest's process reported nothing. Owned. Left out with a
                  * warning if hc_guest_report_check refuses it */
    struct hc_artifact *figures, *files; /* owned arrays */
    size_t figure_count, file_count;
    struct hc_skipped *skipped;
    size_t skipped_count;
    int64_t skipped_more; /* beyond those that are listed */
    int64_t code_bytes;
    char code_sha256[HC_SHA256_HEX]; /* of the program as it was given; empty: none */
    char *code_path;                 /* owned, relative to the output directory, may be NULL */
    int64_t kept_bytes;              /* of what is there, and of the record beside it; not printed */
    char warnings[8][256];           /* one of them may begin with HC_CODE_LOST */
    size_t warning_count;
    struct hc_denials denials;
    struct hc_tool_log tools; /* calls, in their order */
    struct hc_job_usage usage;
    struct hc_samples samples;
    struct {
        int64_t build_us, start_us, run_us, collect_us; /* -1: not reached */
    } timing;
    const struct hc_policy *policy; /* effective, borrowed */
    char policy_sha256[HC_SHA256_HEX];
    char policy_name[64]; /* of a manifest that was read, which has no `policy`; otherwise empty */
    struct hc_enforced_by enforced_by;
    struct hc_layer layers[HC_MAX_LAYERS];
    size_t layer_count;
    const char *tree_name;
    char tree_sha256[HC_SHA256_HEX];
    enum hc_tree_check tree_checked; /* what of it was compared with what was built */
    struct hc_manifest_input inputs[HC_MAX_INPUTS];
    size_t input_count;
    char started[40], finished[40]; /* RFC 3339, UTC, milliseconds */
};

/* How the warning begins that the program, which was to be kept with its results, was not; and what it says
 * after that, NULL if there is no such warning. */
#define HC_CODE_LOST "save the code: "
const char *hc_manifest_code_lost(const struct hc_manifest *m);

void hc_manifest_finish(struct hc_manifest *m);

/* The findings of a rejection as a JSON list, for the caller; empty without a rejection. NULL: no memory. */
cJSON *hc_manifest_findings(const struct hc_manifest *m);

/* The manifest as indented JSON text, ending in a newline; with `key` signed by HMAC-SHA256 over the
 * canonical form without "signature". */
int hc_manifest_print(const struct hc_manifest *m, const void *key, size_t key_len, struct hc_buf *out,
                      struct hc_error *err);

/* The same for programs to read, in a third of the time: neither indented nor ended by a newline. */
int hc_manifest_print_plain(const struct hc_manifest *m, const void *key, size_t key_len, struct hc_buf *out,
                            struct hc_error *err);

/* The older runner's four keys: exit_code, figure_paths, code_paths, truncated. */
/* From that form to the other: two blanks per level, but one line for each member of "guest". A report within
 * limits.value takes no more in the manifest than that, however deep its values are. */
int hc_manifest_indent(const char *text, size_t len, struct hc_buf *out, struct hc_error *err);

int hc_manifest_print_runner(const struct hc_manifest *m, struct hc_buf *out, struct hc_error *err);

/* Check a manifest's signature. Returns 0 if it is signed with this key; otherwise -1 and says why
 * (HC_EXIT_GUEST: does not match or is not signed; HC_EXIT_DATA: not a manifest). */
int hc_manifest_verify(const struct hc_json *j, const void *key, size_t key_len, struct hc_error *err);

/* The name of a file that is listed as "escaped", in its place: never longer. */
void hc_name_unescape(char *name);

#endif
