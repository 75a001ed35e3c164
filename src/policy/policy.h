/* policy.h - a policy, which says what a cell may do and use: one JSON file for everything that enforces it.
 *
 * The functions turn bytes into a struct; the caller reads the files (for "extends") in a callback. */
#ifndef HC_POLICY_POLICY_H
#define HC_POLICY_POLICY_H

#include "base/hash.h"
#include "json/json.h"
#include "policy/rules.h"
#include "policy/tool.h"

#include <string.h>

/* What enforces the limits: a cgroup if there can be one, else as RLIMITS; a cgroup; rlimits and the watch.
 */
enum hc_enforcement { HC_ENFORCE_AUTO, HC_ENFORCE_CGROUP, HC_ENFORCE_RLIMITS };
/* Where the cell's /output lies: in memory, collected after the program; in the output directory itself. */
enum hc_output_mode { HC_OUTPUT_CAPPED, HC_OUTPUT_BIND };
/* What happens to output beyond limits.stdout or limits.stderr: it is dropped; the job is ended. */
enum hc_overflow { HC_OVERFLOW_TRUNCATE, HC_OVERFLOW_END };
/* Sockets that the program may make: connected pairs only; also those that reach the cell itself. */
enum hc_network { HC_NETWORK_NONE, HC_NETWORK_LOOPBACK };
/* Whether the rules for Python code are enforced by the guard. */
enum hc_guard_mode { HC_GUARD_ON, HC_GUARD_OFF };
/* Whether other processes may run on the second threads of the cell's processor cores, or are kept off. */
enum hc_core_scheduling { HC_CORES_SHARED, HC_CORES_KEPT };
/* How much of a tree is compared with what was built: nothing; inodes and times of a part of its files; of
 * all files; the content of all files. */
enum hc_tree_check { HC_TREE_NONE, HC_TREE_QUICK, HC_TREE_STAMPS, HC_TREE_CONTENT };
/* Whether the program may start processes, copies of its own. */
enum hc_processes { HC_PROCESSES_NONE, HC_PROCESSES_FORK };

/* Number of processes that a session of three runs or more has beside those that its runs start: with a lower
 * limits.pids such a session does not work. */
#define HC_SESSION_PIDS 6

/* Layers of a tree: the sign between names in "TREE+LAYER+LAYER"; most layers of one tree; most bytes of a
 * layer's name, with its NUL; the directory in the cell that has one directory for each layer. */
#define HC_LAYER_SIGN      '+'
#define HC_MAX_TREE_LAYERS 8
#define HC_LAYER_NAME      65
#define HC_LAYERS_PLACE    "/usr/lib/layers"
#define HC_LAYER_PROGRAMS  "bin.d"      /* a layer's directory of console scripts */
#define HC_LAYER_LOCAL     "local.d"    /* a layer's directory of programs and libraries that is HC_LOCAL */
#define HC_LOCAL           "/usr/local" /* empty in a tree; trees without programs have its bin as /usr/bin */

#define HC_CPU_WEIGHT 100 /* the kernel's default of cpu.weight, which is that of limits.cpu_weight */

/* Each limit is a row of limits.def, which says what it counts, its unit, bounds and default. Times are in
 * milliseconds, sizes in bytes, cpus in thousandths. */
struct hc_limits {
#define HC_LIMIT(member, ...) int64_t member;
#include "policy/limits.def"
};

/* What enforces limits in a cell: "cgroup", "rlimit+watch", "tmpfs", "none"... (static texts). */
struct hc_enforced_by {
#define HC_ENFORCED(name) const char *name;
#include "policy/limits.def"
};

/* Milliseconds from the beginning of the program until it is killed. */
static inline int64_t hc_hard_timeout(const struct hc_limits *l)
{
    return l->timeout_ms + l->grace_ms;
}

/* The limits.memory_soft that is in force, in bytes: at most seven eighths of limits.memory, as there must be
 * memory left to write results down. */
static inline int64_t hc_memory_soft(const struct hc_limits *l)
{
    int64_t most = l->memory - l->memory / 8;
    return l->memory_soft < most ? l->memory_soft : most;
}

struct hc_policy {
    char name[64]; /* the file's "name", else the file's own without ".json", or "unnamed"; "": no file yet */
    char tree[256];          /* tree name, with layers, or a path if it holds a slash */
    struct hc_limits limits; /* the limits that hold */
    struct hc_limits max;    /* highest limits that requests through hotcelld may ask for (tighten.h) */
    int64_t enforcement;     /* enum hc_enforcement */
    int64_t output_mode;     /* enum hc_output_mode */
    int64_t overflow;        /* enum hc_overflow */
    int64_t network;         /* enum hc_network */
    int64_t processes;       /* enum hc_processes */
    int64_t guard;           /* enum hc_guard_mode */
    int64_t cores;           /* enum hc_core_scheduling */
    int64_t tree_check;      /* enum hc_tree_check */
    cJSON *env;              /* environment variables, an object of strings; owned; NULL if empty */
    cJSON *rules;            /* rules, see rules.h; owned; NULL if empty */
    struct hc_tools tools;   /* tools of the host that programs may call; owned */
    char *description;       /* description for people; owned; NULL: none */
    char base_sha256[HC_SHA256_HEX]; /* hash of the policy as it was loaded (hc_policy_note_base); "": not yet
                                      */
    bool session; /* the cell is for a session; set by cell/session/session.c, not by a file */
    bool learn;   /* refusals are only recorded; set by "hotcell policy learn", not by a file */
};

void hc_policy_init(struct hc_policy *p); /* sets the defaults of the table, and no name */
void hc_policy_finish(struct hc_policy *p);

/* Reads the text of the policy called `name` (a name, or a path if it holds a slash). `from` is the file that
 * extends it, NULL for the first. On success `*text` is filled and `*file` is a malloc'd name for messages.
 */
typedef int hc_policy_reader(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                             struct hc_error *err);

/* Load a policy with everything that it extends (cycles and chains deeper than 8 are refused).
 * All errors are HC_EXIT_CONFIG. */
int hc_policy_load(struct hc_policy *p, const char *name, hc_policy_reader *read, void *ctx,
                   struct hc_error *err);

/* Why a policy, or a job (`by_job`), must not set the environment variable `name`, a static text; NULL: it
 * may. */
#define HC_MAX_ENV       64   /* most variables of a policy, and of a job */
#define HC_MAX_ENV_NAME  64   /* most bytes of a variable's name */
#define HC_MAX_ENV_VALUE 4096 /* most bytes of a variable's value */
const char *hc_env_refusal(const char *name, bool by_job);

/* The names of the layers in the policy's tree, "+LAYER+LAYER", in its text; "": it has none. A tree that is
 * named by its path has none. Inline for the shim, whose tree lacks what the other functions of policies
 * need. */
static inline const char *hc_policy_layers(const struct hc_policy *p)
{
    const char *layers = strchr(p->tree, '/') ? NULL : strchr(p->tree, HC_LAYER_SIGN);
    return layers ? layers : "";
}

/* Check that the policy allows all layers in its tree (layers.allow). HC_EXIT_CONFIG if not: the message
 * names the layer, and the member that would allow it. */
int hc_policy_check_layers(const struct hc_policy *p, struct hc_error *err);

/* May jobs under this policy execute programs of the tree (commands.allow)? Inline as the function above. */
static inline bool hc_policy_has_commands(const struct hc_policy *p)
{
    const cJSON *list = hc_rules_get(p->rules, "commands", "allow");
    return list && list->child && p->processes == HC_PROCESSES_FORK;
}

/* The effective policy as a JSON object that hc_policy_load accepts; owned by the caller, NULL without
 * memory. */
cJSON *hc_policy_to_json(const struct hc_policy *p);

/* The same as one line of text, which the caller frees by cJSON_free; NULL: no memory. hc_policy_hash hashes
 * this text. */
char *hc_policy_text(const struct hc_policy *p);
int hc_policy_hash(const struct hc_policy *p, char out[HC_SHA256_HEX], struct hc_error *err);

/* Note in base_sha256, unless that was done before, the hash of the policy as it was loaded, before a
 * tenant's maxima and a job change it. Each call forgets the maxima of the policy, which are no part of the
 * limits in force. */
int hc_policy_note_base(struct hc_policy *p, struct hc_error *err);

#endif
