/* options.h - one row per policy field that is a single value. The policy file, the job spec's "limits", the
 * command line, --help, the man page's option section, defaults and bounds all walk this table.
 *
 * The functions that take a row and a record work for other tables of such rows too: `record` is the struct
 * that the row's `at` counts from. */
#ifndef HC_POLICY_OPTIONS_H
#define HC_POLICY_OPTIONS_H

#include "policy/policy.h"

#include <stdio.h>

enum hc_option_kind {
    HC_OPT_SIZE,     /* bytes: "512M" or an integer */
    HC_OPT_DURATION, /* milliseconds: "60s", or a number of seconds */
    HC_OPT_COUNT,    /* integer */
    HC_OPT_MILLI,    /* thousandths: 1.5 */
    HC_OPT_CHOICE,   /* one of `choices`, stored as its index */
    HC_OPT_NAME,     /* char[256]: a name or path */
};

/* When may the sender of a job ask for a value in the place of the policy's, as it gives no more than that
 * one (tighten.h)? */
enum hc_tighter {
    HC_TIGHTER_UNSAID,        /* the row lacks its direction, and counts as HC_TIGHTER_SAME */
    HC_TIGHTER_LESS,          /* when it is at most the policy's */
    HC_TIGHTER_LESS_NOT_NONE, /* when it is at most the policy's, where 0 means that there is no limit */
    HC_TIGHTER_ANY,           /* always: another limit bounds what the value can give */
    HC_TIGHTER_SAME,          /* when it is the same: the policy alone decides */
    HC_TIGHTER_LISTED,        /* when it is a name in a list of the process that serves the job */
};

struct hc_option {
    const char *path;           /* place of the field in a policy file: "limits.timeout", "network" */
    const char *flag;           /* option on the command line: "timeout" for --timeout; NULL: there is none */
    char letter;                /* short form of the option, 0 if there is none */
    const char *arg;            /* metavariable for --help: "DURATION" */
    enum hc_option_kind kind;   /* kind of the value */
    size_t at;                  /* offsetof in the record; int64_t, or char[256] for HC_OPT_NAME */
    int64_t min, max, def;      /* inclusive bounds; for choices def is an index */
    const char *def_name;       /* default of HC_OPT_NAME */
    const char *const *choices; /* texts of the values of an HC_OPT_CHOICE; ends with NULL */
    const char *help;           /* one sentence for --help and the man page */
    enum hc_tighter tighter;    /* direction in which a sender's value is tighter, in hc_options; other tables
                                   are not for senders */
    bool at_start; /* a process reads it at its start only; used in the table of hotcelld.conf only */
    /* The members below are used in hc_options only. */
    const char *plain;  /* what the value counts as a number in a manifest, with its unit */
    const char *guard;  /* how the guard in the interpreter enforces it; NULL: it does not */
    const char *kernel; /* how the kernel or the launcher enforces it */
    /* The file of the cell's cgroup that holds the limit; NULL: none. Its name begins with the controller. Of
     * "io.max", which has a line for each disk, the key in that line. */
    const char *cgroup_file, *cgroup_key;
    size_t enforced; /* offsetof in struct hc_enforced_by, for limits with a file of the controllers cpu and
                        io */
    bool any_cell;   /* a warm cell made under another value will do: the launcher alone enforces this one, or
                      * it travels with the job */
    bool of_run;     /* each run of a session may set it: it is about time or output, not about the cell */
};

/* A value that a request gives to one row, over the policy's. */
struct hc_override {
    const struct hc_option *opt; /* the row */
    char *text;                  /* as on the command line; owned by the request */
};

#define HC_MAX_OVERRIDES 64 /* most overrides of one request */

/* Set the options of `p` to the values of a request, in their order, up to the first that is wrong.
 * HC_EXIT_USAGE. */
int hc_overrides_apply(const struct hc_override *list, size_t count, struct hc_policy *p,
                       struct hc_error *err);

/* The table of a policy's options, and the number of its rows. */
extern const struct hc_option hc_options[];
extern const size_t hc_options_count;

const struct hc_option *hc_option_by_flag(const char *flag); /* "timeout"; NULL if there is none */
const struct hc_option *hc_option_by_path(const char *path); /* "limits.timeout"; NULL if there is none */

/* A hint for a wrong member name (names.h): considers the table's members of `section` ("" for the top
 * level), those of the other sections, and `others` (ends with NULL, may be NULL). */
void hc_nearest_option(const char *section, const char *name, const char *const *others, char *out,
                       size_t size);

/* The member of `l` that a row of limits.def stands for: where it is; its value. */
int64_t *hc_limit_place(struct hc_limits *l, const struct hc_option *opt);
int64_t hc_limit_value(const struct hc_limits *l, const struct hc_option *opt);

void hc_option_init(void *record, const struct hc_option *opt); /* sets the field to the row's default */

/* Set a field from text (command line) or a JSON node. The message says what was expected and the bounds;
 * the caller adds where it stood. HC_EXIT_USAGE for text, HC_EXIT_CONFIG for JSON. */
int hc_option_set(void *record, const struct hc_option *opt, const char *text, struct hc_error *err);
int hc_option_set_json(void *record, const struct hc_option *opt, const struct hc_json *j, const cJSON *node,
                       struct hc_error *err);

/* Print the field into `out`, `size` bytes, as people write it ("512M"). */
void hc_option_format(const void *record, const struct hc_option *opt, char *out, size_t size);
/* The field as a policy file has it (sizes and durations as text), and as a plain number for programs (bytes,
 * seconds, counts; choices and names as text). Owned by the caller; NULL without memory. */
cJSON *hc_option_to_json(const void *record, const struct hc_option *opt);
cJSON *hc_option_to_plain_json(const void *record, const struct hc_option *opt);

/* Print the bounds of a row into `out` as people write them: "32M to 1T", "none or loopback". */
void hc_option_format_bounds(const struct hc_option *opt, char *out, size_t size);

/* The default as people write it, in `out` of `size` bytes or in the row itself. */
const char *hc_option_default(const struct hc_option *opt, char *out, size_t size);

void hc_options_print_help(FILE *out); /* the lines for --help */

#endif
