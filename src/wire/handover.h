/* handover.h - what the launcher hands to the shim in one sealed memfd: a JSON document and seccomp filters.
 *
 * Layout: struct hc_handover_head, then json_len bytes of JSON, then the filters, each struct sock_filter[].
 * The document: {"code", "filename", "inputs": [{"name", "path", "format"}], "vars": {..}, "seed": n |
 * absent, "timeout": text, "figures", "figure_bytes", "value_bytes", "processes": bool, "network": bool,
 * "check": bool, "guard": bool, "learn": true | absent, "session": true | absent, "rules": {section: {key:
 * value}}, "returns":
 * [{"name", "format"}], "tools": [{"name", "argument_bytes", "description" | absent, "parameters" | absent}]
 * | absent}. "rules" is what rules.h checked; with guard off it lacks the guard's. A copy of a zygote has
 * them from the zygote, whose policy is the job's. */
#ifndef HC_WIRE_HANDOVER_H
#define HC_WIRE_HANDOVER_H

#include "base/version.h"
#include "job/job.h"

#include <signal.h>

enum hc_handover_kind {
    HC_HANDOVER_CELL,   /* a job and all that belongs to it */
    HC_HANDOVER_ZYGOTE, /* the same without code and data */
    HC_HANDOVER_COPY    /* a job for a copy of a zygote, which has the rest */
};

struct hc_handover_head {
    uint32_t magic; /* tells the kind */
    uint32_t json_len;
    uint32_t first_len;
    uint32_t report_len;
    uint32_t job_len;
    char version[sizeof hc_version]; /* of who wrote it */
};

/* Descriptors of a cell's first process; nothing else is open, and none is of a file of the host:
 *
 *   fd  what it is                    who made it, where      who else has it
 *   0   /dev/null, read-only mount    the cell, in its root   nobody: each cell opens its own
 *   1   pipe, its end for writing     the launcher            the launcher has the other end
 *   2   pipe, its end for writing     the launcher            the launcher has the other end
 *   3   SOCK_SEQPACKET                the cell                the launcher has the other end
 *   4   sealed memfd                  the launcher            nobody: one for each job
 *   5   SOCK_STREAM                   the launcher            the launcher has the other end
 *
 * The program has the first four of them: 4 is closed before its text is compiled, 5 when pid 2 is made. A
 * pipe, a socket and a memfd are inodes that no path leads to and that end with the job, so what a program
 * does to theirs (times, mode, flags, locks) nobody else sees. */
enum hc_cell_fd {
    HC_FD_CONTROL = 3,  /* frames to and from the launcher; the interpreter keeps it */
    HC_FD_HANDOVER = 4, /* of struct hc_handover_head */
    HC_FD_STATUS = 5    /* pid 1 only: struct hc_exit_report, written once; its hang-up means the launcher is
                           gone */
};

/* The launcher sends it to the interpreter when limits.timeout is nearly over. */
#define HC_SIGNAL_DEADLINE SIGVTALRM
/* When limits.memory is. */
#define HC_SIGNAL_MEMORY SIGPWR

/* A session's copy of the interpreter takes over (HC_FRAME_KEPT). */
#define HC_SIGNAL_RESUME SIGRTMAX
/* The run that goes on shall end: KeyboardInterrupt. */
#define HC_SIGNAL_INTERRUPT (SIGRTMAX - 1)

/* The shim's second argument, for the cell of a session: pid 1 tells of each process that ends. */
#define HC_SHIM_SESSION "session"
/* For pid 1 of a copy's cell, which is executed once the copy is made; the third is the pid of the
 * interpreter. */
#define HC_SHIM_INIT "init"

/* How the interpreter (pid 2) ended, as pid 1 learnt it from waitid. */
struct hc_exit_report {
    int32_t pid;    /* inside */
    int32_t code;   /* CLD_EXITED, CLD_KILLED, CLD_DUMPED */
    int32_t status; /* exit status or signal */
    /* Of the processes that pid 1 waited for; where the launcher is not its parent, it has no other account.
     */
    int64_t cpu_user_us, cpu_system_us, largest; /* bytes, of one process */
};

/* A filter as bytes. */
struct hc_bpf {
    const void *data;
    size_t len;
};

/* Which are there depends on the kind; see cell/filter.h. */
struct hc_handover_filters {
    struct hc_bpf first;  /* of a zygote's copies */
    struct hc_bpf report; /* but of a copy, which has it from its zygote */
    struct hc_bpf own;    /* but of a copy that has it from its zygote (hc_handover_locks_early) */
};

int hc_handover_write(enum hc_handover_kind kind, const struct hc_job *job, const struct hc_policy *policy,
                      const struct hc_handover_filters *filters, struct hc_buf *out, struct hc_error *err);

/* Does a copy of a zygote put the job's filter on itself before it has a job? Not if the policy's own code is
 * to run before the job's, which need not keep to what the job may call. */
bool hc_handover_locks_early(const cJSON *rules);

struct hc_handover_input {
    const char *name, *path, *format;
};

/* The document, decoded. Its texts and nodes belong to the handover; all are there, "" or NULL for none. */
struct hc_handover_job {
    const char *code;     /* the program */
    const char *filename; /* of the program, "<cell>" */
    const char *timeout;  /* limits.timeout, as text for a message */
    struct hc_handover_input *inputs;
    size_t input_count;
    bool has_vars;  /* the document's text has variables, for Python to read */
    bool has_given; /* and inputs that came with a session's run */
    bool has_seed;
    uint32_t seed;
    bool session, check, guard, learn, network, processes;
    int64_t figures;                   /* most of them */
    int64_t figure_bytes, value_bytes; /* bytes of one */
    int64_t memory, output, tmp;       /* bytes that the cell may use; `output` 0 if that is not capped */
    const cJSON *returns, *tools;      /* lists, as they are for Python */
    const cJSON *rules;                /* of the policy; a copy of a zygote has them from the zygote */
};

struct hc_handover {
    enum hc_handover_kind kind;
    struct hc_handover_filters filters; /* point into the bytes given to hc_handover_split, as does `text` */
    const char *text;
    size_t text_len;
    struct hc_json json; /* owns its tree; its text points into the same bytes */
    struct hc_handover_job job;
};

/* In two steps, since the document holds texts from strangers and the filters do not: tell the parts, then
 * read the document into `json` and `job`. */
int hc_handover_split(struct hc_handover *out, const void *data, size_t len, struct hc_error *err);
int hc_handover_parse(struct hc_handover *h, struct hc_error *err);
void hc_handover_finish(struct hc_handover *h);

/* The document of a job of this zygote's policy that is no session's and runs `code`; the caller frees it.
 * NULL: without memory. */
char *hc_handover_sample(const struct hc_handover *zygote, const char *code);

#endif
