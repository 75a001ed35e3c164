/* job.h - the job spec: one request, as JSON or as built from a command line. */
#ifndef HC_JOB_JOB_H
#define HC_JOB_JOB_H

#include "policy/options.h"

#define HC_MAX_INPUTS  64
#define HC_MAX_RETURNS 64
#define HC_BOM         "\xef\xbb\xbf" /* may stand in front of a program; it is not handed over */

enum hc_input_format {
    HC_INPUT_PATH,  /* a path below /input */
    HC_INPUT_JSONL, /* pandas DataFrame, one JSON record per line */
    HC_INPUT_JSON,  /* pandas DataFrame */
    HC_INPUT_CSV,   /* pandas DataFrame */
    HC_INPUT_NPY,   /* numpy array */
    HC_INPUT_NPZ,   /* dict of numpy arrays */
};

struct hc_input {
    char *name; /* a Python identifier, not a keyword, not starting with an underscore */
    char *path; /* on the host */
    enum hc_input_format format;
};

/* A variable of the program that is to be given back. */
struct hc_return {
    char *name;         /* a Python identifier */
    const char *format; /* static: "auto", "json", "npy", "csv", "jsonl" */
};

/* Commands that take options of a job. */
enum { HC_OF_RUN = 1, HC_OF_CHECK = 2, HC_OF_SESSION = 4, HC_OF_SERVE = 8, HC_OF_BATCH = 16 };

/* Forms of a spec: this host's own, the older runner's, those of somebody else for a program, for a session
 * and for a run of a session. */
enum { HC_SPEC_OWN = 1, HC_SPEC_RUNNER = 2, HC_SPEC_UPLOAD = 4, HC_SPEC_SESSION = 8, HC_SPEC_RUN = 16 };

/* A row of job_options.def. */
struct hc_job_option {
    const char *name;     /* of the member in a spec */
    const char *flag;     /* of the command line, without its dashes */
    size_t at;            /* offsetof in struct hc_job */
    const char *arg;      /* of a text: its name in --help and in the manual, "TENANT" */
    const char *help;     /* a phrase for --help */
    const char *man;      /* sentences for hotcell(1), in mdoc(7) */
    bool is_flag;         /* a bool; else a char * */
    bool is_id;           /* of a text: is it an ID (hc_job_check_id)? */
    const char *shape;    /* of another text: what it has to be, for messages */
    unsigned commands;    /* HC_OF_ that take it */
    unsigned specs;       /* HC_SPEC_ that may have it */
    const char *not_sent; /* why hotcelld does not take it; NULL if it does */
};

extern const struct hc_job_option hc_job_options[];
extern const size_t hc_job_options_count;

struct hc_job {
#define HC_JOB_TEXT(member, ...) char *member;
#define HC_JOB_FLAG(member, ...) bool member;
#include "job/job_options.def"
    char *code; /* NUL-terminated; NULL until given. hc_job_check: UTF-8 without NUL */
    size_t code_len;
    struct hc_input inputs[HC_MAX_INPUTS];
    size_t input_count;
    cJSON *vars;     /* object name -> value, parsed only to be checked; NULL if none */
    char *vars_text; /* the same as JSON text with numbers as written; NULL if none */
    char *given;     /* of a session's run: its inputs with their content, as JSON; NULL if none */
    char *policy;    /* NULL: "default" */
    char *output_dir;
    struct hc_override overrides[HC_MAX_OVERRIDES];
    size_t override_count;
    struct hc_return returns[HC_MAX_RETURNS];
    size_t return_count;
    bool check_only; /* look at the code, do not run it */
    bool session;    /* no program of its own: runs come one after another (cell/session.h) */
    int run;         /* the number of this one, from 1; 0: not of a session */
    cJSON *labels;   /* object of strings; NULL if none */
    bool has_seed;
    uint32_t seed;                     /* PYTHONHASHSEED and random.seed */
    struct hc_tools tools;             /* that the spec describes: without commands */
    char *tool_commands[HC_MAX_TOOLS]; /* NAME=COMMAND, of the command line */
    size_t tool_command_count;
    bool runner_form; /* came in the older runner's form: also write _sandbox_result.json */
};

void hc_job_finish(struct hc_job *job);

/* Parse a spec in either form. Unknown keys and wrong types are errors with line and column (HC_EXIT_DATA).
 */
int hc_job_parse(struct hc_job *job, const char *name, const char *text, size_t len, struct hc_error *err);

/* The content of inputs that came inside a spec, in the order of job->inputs, whose `path` is then no more
 * than the file's name. */
struct hc_uploads {
    struct {
        char *data; /* owned */
        size_t len;
    } list[HC_MAX_INPUTS];
    size_t count;
};

/* Parse a spec from somebody who has no say about files of this host: inputs are content ({"file": NAME,
 * "text": ... or "data": base64}), policy and tree are names, and there are no members for paths and for what
 * the receiver knows itself (output_dir, sign, tenant, job_id). Of a session: what it begins with, without
 * what is said of one program. Errors as above. */
int hc_job_parse_upload(struct hc_job *job, struct hc_uploads *uploads, bool session, const char *name,
                        const char *text, size_t len, struct hc_error *err);
void hc_uploads_finish(struct hc_uploads *uploads);

/* Parse one run of a session, whose interpreter is there: inputs are content, as above, and become `given`.
 * What is for a session as a whole is refused. Errors as above. */
int hc_job_parse_run(struct hc_job *job, const char *name, const char *text, size_t len,
                     struct hc_error *err);

/* The member of a row: to be written, and to be read (NULL and false if the row is of the other type). */
char **hc_job_text(struct hc_job *job, const struct hc_job_option *row);
bool *hc_job_flag(struct hc_job *job, const struct hc_job_option *row);
const char *hc_job_text_of(const struct hc_job *job, const struct hc_job_option *row);
bool hc_job_flag_of(const struct hc_job *job, const struct hc_job_option *row);

/* As on a command line; `text` is NULL for a flag. HC_EXIT_USAGE. */
int hc_job_set(struct hc_job *job, const struct hc_job_option *row, const char *text, struct hc_error *err);

/* The pieces of a command line. HC_EXIT_USAGE errors. `NAME=FILE`, `NAME=JSON`. */
int hc_job_add_input(struct hc_job *job, const char *assignment, struct hc_error *err);
int hc_job_add_var(struct hc_job *job, const char *assignment, struct hc_error *err);
/* NAME or NAME=FORMAT */
int hc_job_add_return(struct hc_job *job, const char *assignment, struct hc_error *err);
/* NAME=COMMAND, checked */
int hc_job_add_tool(struct hc_job *job, const char *assignment, struct hc_error *err);
int hc_job_add_label(struct hc_job *job, const char *assignment, struct hc_error *err);
int hc_job_add_override(struct hc_job *job, const struct hc_option *opt, const char *text,
                        struct hc_error *err);

/* The policy's name or path, if need be that of its form's default. */
const char *hc_job_policy(const struct hc_job *job);

/* Give the policy the tools that the job brings: those of the spec, whose names the policy must not have,
 * then the command line's. HC_EXIT_DATA, HC_EXIT_USAGE. */
int hc_job_put_tools(struct hc_job *job, struct hc_policy *policy, struct hc_error *err);

/* What the job asks for, over the policy (hc_policy_note_base). HC_EXIT_USAGE. */
int hc_job_apply(const struct hc_job *job, struct hc_policy *policy, struct hc_error *err);

/* What every job must fulfil whatever form it came in: code present (but for a session as a whole), UTF-8
 * (says line and column), no NUL, not blank; names unique; ids well-formed ([A-Za-z0-9._-], at most 64).
 * HC_EXIT_DATA. The size limit is the policy's. */
int hc_job_check(const struct hc_job *job, struct hc_error *err);

/* limits.stdout, limits.stderr and limits.value are text in the account, which is held in memory whole, and
 * as JSON up to six times as long: a job may ask for `most` of each, or for what its policy gives.
 * HC_EXIT_DATA. */
int hc_job_check_texts(const struct hc_job *job, const struct hc_limits *given, int64_t most,
                       struct hc_error *err);

/* A tenant's or a job's name. HC_EXIT_DATA. */
int hc_job_check_id(const char *id, struct hc_error *err);

enum hc_input_format hc_input_format_of(const char *path); /* by extension, case ignored */
const char *hc_input_format_name(enum hc_input_format f);  /* "jsonl", ... "path" */

/* Where an input stands in the cell: "/input/NAME.EXT" (extension of the host's file, if it is short and
 * plain). */
int hc_input_cell_path(const struct hc_input *in, char *out, size_t size);

#endif
