/* job.h - the job spec: one request, as JSON or as built from a command line. */
#ifndef HC_JOB_JOB_H
#define HC_JOB_JOB_H

#include "policy/interface.h"
#include "policy/options.h"

#include <string.h>
#define HC_MAX_INPUTS  64   /* most inputs of a job */
#define HC_MAX_RETURNS 64   /* most variables that a job returns */
#define HC_MAX_DIRS    16   /* most directories of the host that a job has */
#define HC_JOB_VOLUMES 4    /* most volumes of a job */
#define HC_DIR_PLACE   1024 /* most bytes of a directory's place in the cell */
#define HC_JOB_NAME    64   /* most bytes of an id, and of the name of an input, a variable or a label */
#define HC_BOM         "\xef\xbb\xbf" /* may stand before a program's code; the handover leaves it out */

/* What the program's variable holds of an input's file. */
enum hc_input_format {
    HC_INPUT_PATH,  /* path of the file below /input, as text */
    HC_INPUT_JSONL, /* pandas DataFrame, one JSON record per line */
    HC_INPUT_JSON,  /* pandas DataFrame, from one JSON document */
    HC_INPUT_CSV,   /* pandas DataFrame, from CSV */
    HC_INPUT_NPY,   /* numpy array */
    HC_INPUT_NPZ,   /* dict of numpy arrays, or what the Python package has packed */
    HC_INPUT_VALUE, /* any value, as the JSON with tags that the Python package writes */
    HC_INPUT_FRAME, /* as HC_INPUT_JSONL, but a file that cannot be read rejects the program */
};

#define HC_JOB_CHOICES 80 /* bytes of a list of choices */

/* A file that the job gives to its program. */
struct hc_input {
    char *name;                  /* name of the program's variable (hc_is_variable) */
    char *path;                  /* path of the file on the host */
    char *place;                 /* relative path in the working directory that the program finds a copy at
                                    (hc_job_bad_place);                 owned; NULL: the file's own name */
    enum hc_input_format format; /* how the program gets the file */
};

/* A variable of the program whose value the job returns. */
struct hc_return {
    char *name;         /* name of the variable: a word, or as hc_is_variable has it */
    const char *format; /* how its value is written: "auto", "json", "npy", "csv", "jsonl"; static */
};

/* What a program may do with a directory of the host. */
enum hc_dir_mode {
    HC_DIR_RO,     /* read what is in it */
    HC_DIR_COW,    /* read and change a copy of it */
    HC_DIR_RW,     /* read and change it */
    HC_DIR_SCRATCH /* write in its place, in memory: the program sees nothing of what is in it */
};
/* A directory of the host that the program finds in its cell. */
struct hc_dir {
    char *host;  /* path on the host as the caller named it; owned */
    char *place; /* absolute path in the cell (hc_dir_bad_place); owned; NULL: the same path as on the host */
    char *volume; /* name of the tenant's volume that it is a copy of; `host` is "" until a worker has opened
                     the volume; owned; NULL: it is no volume */
    enum hc_dir_mode mode; /* the program's access to the directory */
};
/* Commands that take options of a job (hc_job_option.commands); HC_OF_SERVE is `hotcell mcp`. */
enum {
    HC_OF_RUN = 1,
    HC_OF_CHECK = 2,
    HC_OF_SESSION = 4,
    HC_OF_SERVE = 8,
    HC_OF_BATCH = 16,
    HC_OF_EXEC = 32
};

/* Forms of a spec (hc_job_option.specs): of a caller on this host, in hotcell's own form and in the older
 * runner's; and of a remote sender, for a program, for a session and for a run of a session. */
enum { HC_SPEC_OWN = 1, HC_SPEC_RUNNER = 2, HC_SPEC_UPLOAD = 4, HC_SPEC_SESSION = 8, HC_SPEC_RUN = 16 };

/* A row of job_options.def. */
struct hc_job_option {
    const char *name;           /* name of the member in a spec */
    const char *flag;           /* name of the option on the command line, without its dashes */
    size_t at;                  /* offsetof of the member in struct hc_job */
    const char *arg;            /* name of a text's value in --help and in the manual, such as "TENANT" */
    const char *help;           /* a phrase for --help */
    const char *man;            /* sentences for hotcell(1), in mdoc(7) */
    bool is_flag;               /* the member is a bool; else a char * */
    bool is_id;                 /* the text is an id (hc_job_check_id) */
    const char *shape;          /* what another text has to be, for messages */
    const char *const *choices; /* allowed texts; NULL: any text */
    unsigned commands;          /* HC_OF_* of the commands that take the option */
    unsigned specs;             /* HC_SPEC_* of the forms that may have the option */
    const char *not_sent;       /* why hotcelld does not take the option; NULL: it does */
};

/* What is wrong with the text as this option's value, in `out` or static; NULL: it is right. */
const char *hc_job_bad_choice(const struct hc_job_option *row, const char *text, char out[HC_JOB_CHOICES]);

/* The rows of job_options.def, and their number. */
extern const struct hc_job_option hc_job_options[];
extern const size_t hc_job_options_count;

#define HC_CONTEXT_MAIN "main" /* name of the context that a session begins with, and that ends with it */

/* The process that checks a program of a session before its own process gets it (cell/session). */
enum hc_checker {
    HC_CHECKER_ENDS,  /* it makes a copy of itself first, and ends with the check */
    HC_CHECKER_STAYS, /* it makes a copy of itself first, and then waits for the next program to check */
    HC_CHECKER_AGAIN  /* it has stayed, and does so again */
};

/* A job. It owns all that its pointers point to, except the rows of options. */
struct hc_job {
#define HC_JOB_TEXT(member, ...) char *member;
#define HC_JOB_FLAG(member, ...) bool member;
#include "job/job_options.def"
    bool is_command; /* `code` is a command: its arguments, as hc_job_set_command writes them */
    char *code;      /* the program, NUL-terminated; NULL: none yet. hc_job_check: UTF-8 without NUL */
    size_t code_len; /* bytes of `code` */
    struct hc_input inputs[HC_MAX_INPUTS]; /* files for the program */
    size_t input_count;                    /* used entries of `inputs` */
    struct hc_dir dirs[HC_MAX_DIRS];       /* directories of the host for the program */
    size_t dir_count;                      /* used entries of `dirs` */
    cJSON *vars;      /* variables for the program, used for checks only: object name -> value; NULL: none */
    char *vars_text;  /* the variables as JSON text, with numbers as the job wrote them; NULL: none */
    char *given;      /* inputs of a session's run with their content, as JSON; NULL: none */
    cJSON *args;      /* list of strings: sys.argv behind the program's name; NULL: none */
    cJSON *env;       /* object of strings: environment variables beside the policy's; NULL: none */
    char *stdin_data; /* standard input that came in a spec, owned; NULL: there is none, or a stream of the
                         caller's */
    size_t stdin_len; /* bytes of `stdin_data` */
    char *context;    /* the context of a session that its run happens in, owned; NULL: the first */
    bool moves;       /* an order to copy a session's interpreter, which enters `workdir` */
    bool interactive; /* a session's run: its client answers input(); `has_stdin` is set, too */
    bool has_stdin;   /* there is standard input: `stdin_data`, or a stream (cell/run.h) */
    char *policy;     /* name or path of the policy; NULL: the default of the spec's form (hc_job_policy) */
    char *output_dir; /* path of the directory for results; NULL: the command's default */
    struct hc_override overrides[HC_MAX_OVERRIDES]; /* values that the job gives to options of its policy */
    size_t override_count;                          /* used entries of `overrides` */
    struct hc_return returns[HC_MAX_RETURNS];       /* variables that the job returns */
    size_t return_count;                            /* used entries of `returns` */
    bool check_only;                                /* check the program, do not run it */
    enum hc_checker checker; /* of a session, with check_only: which process checks, and what becomes of it */
    bool session;  /* the job has no program of its own: runs come one after another (cell/session.h) */
    int run;       /* number of this run in its session, from 1; 0: not a run of a session */
    cJSON *labels; /* object of strings, owned; NULL if none */
    bool has_seed; /* the job gives a seed */
    uint32_t seed; /* value for PYTHONHASHSEED and random.seed; used if `has_seed` */
    struct hc_tools tools;             /* tools that the spec describes; they have no commands */
    char *tool_commands[HC_MAX_TOOLS]; /* NAME=COMMAND, from the command line */
    size_t tool_command_count;         /* used entries of `tool_commands` */
    bool runner_form; /* the spec has the older runner's form: also write _sandbox_result.json */
};

void hc_job_finish(struct hc_job *job);

/* Free `stdin_data`; the caller passes the standard input as a stream instead. */
void hc_job_drop_stdin(struct hc_job *job);

/* Parse a spec in either form. Unknown keys and wrong types are errors with line and column (HC_EXIT_DATA).
 */
int hc_job_parse(struct hc_job *job, const char *name, const char *text, size_t len, struct hc_error *err);

/* Parse the spec of a session on this host: hotcell's own form, without the members that describe one
 * program. Errors as for hc_job_parse. */
int hc_job_parse_session(struct hc_job *job, const char *name, const char *text, size_t len,
                         struct hc_error *err);

/* The content of inputs that came inside a spec, in the order of job->inputs, whose `path` is then no more
 * than the file's name. */
struct hc_uploads {
    struct {
        char *data;   /* content of the input; owned; NULL: an upload has it */
        size_t len;   /* bytes of `data` */
        char *upload; /* id of the upload that has the content; owned; NULL: none */
    } list[HC_MAX_INPUTS];
    size_t count; /* used entries of `list` */
};

/* Parse the spec of a remote sender, who must not name files of this host: inputs come as content ({"file":
 * NAME, "text": ... or "data": base64, or "upload": ID}), policy and tree are names, and paths and facts that
 * the receiver knows itself (output_dir, sign, tenant, job_id) are refused. With `session` the text is the
 * spec of a session, which has no members that describe one program. Errors as for hc_job_parse. */
int hc_job_parse_upload(struct hc_job *job, struct hc_uploads *uploads, bool session, const char *name,
                        const char *text, size_t len, struct hc_error *err);
void hc_uploads_finish(struct hc_uploads *uploads);

/* Parse one run of a session that has begun: inputs come as content, as in hc_job_parse_upload, and become
 * `given`. Members that are for a session as a whole are refused. Errors as for hc_job_parse. */
int hc_job_parse_run(struct hc_job *job, const char *name, const char *text, size_t len,
                     struct hc_error *err);

/* The job's member for a row: a pointer by which a caller sets the text or the flag; the value of the text or
 * the flag. NULL or false if the row has the other type. */
char **hc_job_text(struct hc_job *job, const struct hc_job_option *row);
bool *hc_job_flag(struct hc_job *job, const struct hc_job_option *row);
const char *hc_job_text_of(const struct hc_job *job, const struct hc_job_option *row);
bool hc_job_flag_of(const struct hc_job *job, const struct hc_job_option *row);

/* Set an option from a command line; `text` is NULL for a flag. HC_EXIT_USAGE. */
int hc_job_set(struct hc_job *job, const struct hc_job_option *row, const char *text, struct hc_error *err);

/* Add an argument of the command line: NAME=FILE for an input, NAME=JSON for a variable. Errors of these
 * functions: HC_EXIT_USAGE. */
int hc_job_add_input(struct hc_job *job, const char *assignment, struct hc_error *err);
int hc_job_add_var(struct hc_job *job, const char *assignment, struct hc_error *err);
/* Add a directory of the host: HOST[:PLACE][:MODE] */
int hc_job_add_dir(struct hc_job *job, const char *text, struct hc_error *err);
/* Add a returned variable: NAME or NAME=FORMAT */
int hc_job_add_return(struct hc_job *job, const char *assignment, struct hc_error *err);
/* Add a tool, NAME=COMMAND; a label, KEY=VALUE */
int hc_job_add_tool(struct hc_job *job, const char *assignment, struct hc_error *err);
int hc_job_add_label(struct hc_job *job, const char *assignment, struct hc_error *err);
/* Add an environment variable, NAME=VALUE; set all arguments of the program, in the place of earlier ones;
 * add a value for an option of the policy. */
int hc_job_add_env(struct hc_job *job, const char *assignment, struct hc_error *err);
int hc_job_set_args(struct hc_job *job, char *const *args, size_t count, struct hc_error *err);
int hc_job_add_override(struct hc_job *job, const struct hc_option *opt, const char *text,
                        struct hc_error *err);

/* The value that the job gives to the option at this path, "tree"; borrowed. NULL: it leaves the policy's. */
const char *hc_job_override(const struct hc_job *job, const char *path);

/* The name or path of the job's policy; if the job names none, the default of the spec's form. */
const char *hc_job_policy(const struct hc_job *job);

/* Give the policy the tools that the job brings: those of the spec, whose names the policy must not have,
 * then the command line's. HC_EXIT_DATA, HC_EXIT_USAGE. */
int hc_job_put_tools(struct hc_job *job, struct hc_policy *policy, struct hc_error *err);

/* Set the policy's options to the values that the job asks for; the policy keeps its hash from before
 * (hc_policy_note_base). HC_EXIT_USAGE. */
int hc_job_apply(const struct hc_job *job, struct hc_policy *policy, struct hc_error *err);

/* Check what every job must fulfil whatever form its spec has: it has code (unless it is a session), which is
 * UTF-8 (an error has line and column), without NUL and not blank; names are unique; ids are well-formed
 * ([A-Za-z0-9._-], at most 64). HC_EXIT_DATA. The policy limits the size of the code. */
int hc_job_check(const struct hc_job *job, struct hc_error *err);

/* The manifest holds up to limits.stdout, limits.stderr and limits.value bytes of text, as JSON up to six
 * times as many, and is in memory whole. So a job may ask for `most` bytes of each, or for the value in its
 * policy (`given`). HC_EXIT_DATA. */
int hc_job_check_texts(const struct hc_job *job, const struct hc_limits *given, int64_t most,
                       struct hc_error *err);

/* Make the job a command: `code` becomes its arguments as JSON, a list of strings of which the first is the
 * program's name or path. HC_EXIT_USAGE: there is none, or one is too long or no UTF-8. */
int hc_job_set_command(struct hc_job *job, char *const *args, size_t count, struct hc_error *err);

/* Why the policy does not let the job have its standard input and environment: the text is written into
 * `why`, and the name of the rule returned; NULL: it does. */
const char *hc_job_refuse_input(const struct hc_job *job, const struct hc_policy *policy, char *why,
                                size_t size);

/* Check a tenant's name or a job's id. HC_EXIT_DATA. */
int hc_job_check_id(const char *id, struct hc_error *err);

const char *hc_dir_mode_name(enum hc_dir_mode mode); /* "ro", "cow", "rw", "scratch" */

/* Why no file of a program's working directory can have this path; NULL: one can. */
const char *hc_job_bad_place(const char *path);

/* Why a directory of the host cannot have this path in a cell, whatever is in its tree; NULL: it can. */
const char *hc_dir_bad_place(const char *place);

/* Is the absolute path `path` the directory `above`, or below it? Both have no slash at the end, except "/".
 * Inline: the shim needs it too, and nothing else of how a job is read. */
static inline bool hc_path_covers(const char *above, const char *path)
{
    size_t len = strcmp(above, "/") == 0 ? 0 : strlen(above);
    return strncmp(path, above, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* The format that the extension of the path stands for, in either case. */
enum hc_input_format hc_input_format_of(const char *path);

/* Copies the NAME of an input that is given as NAME or NAME:raw, cut if it is too long for a name. Returns
 * the format in which the input is read: that of `path`, or for "raw" HC_INPUT_PATH. */
enum hc_input_format hc_input_split(const char *given, const char *path, char name[HC_JOB_NAME + 2]);

/* ":raw" if the input has to be given as NAME:raw, else "". */
const char *hc_input_mark(const struct hc_input *in);

const char *hc_input_format_name(enum hc_input_format f); /* "jsonl", ... "path"; static */

/* Write the path of an input in the cell into `out`: "/input/NAME.EXT", with the extension of the host's file
 * if it is short and plain. -1: `size` bytes are too few. */
int hc_input_cell_path(const struct hc_input *in, char *out, size_t size);

#endif
