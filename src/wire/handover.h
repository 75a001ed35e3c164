/* handover.h - what the launcher hands to the shim in one sealed memfd: a JSON document and seccomp filters.
 *
 * Layout: struct hc_handover_head, then json_len bytes of JSON, then the filters, each struct sock_filter[].
 * The document is an object with these members:
 *
 * "code", "filename", "timeout", "layers": texts, see struct hc_handover_job.
 *
 * "interface": text, or absent. "seed": number, or absent.
 *
 * "inputs": [{"name", "path", "format"}]. "vars": {name: value}. "returns": [{"name", "format"}].
 *
 * "given": inputs of a session's run; "args": list of strings; "env": object of strings; each may be absent.
 *
 * "figures", "figure_bytes", "value_bytes", "memory", "output", "tmp": numbers.
 *
 * "processes", "network", "check", "guard": true or false.
 *
 * "session", "command", "learn", "links", "stdin", "interactive": true, or absent.
 *
 * "checker": number, an enum hc_checker, or absent.
 *
 * "rules": {section: {key: value}}, the policy's (policy/rules.h); with guard off without the guard's rules.
 *
 * "tools": [{"name", "argument_bytes", "description" or absent, "parameters" or absent}], or absent.
 *
 * The handover to a copy of a zygote has no rules and layers: the copy has those of the zygote, whose policy
 * is the job's. */
#ifndef HC_WIRE_HANDOVER_H
#define HC_WIRE_HANDOVER_H

#include "base/version.h"
#include "job/job.h"

#include <signal.h>

enum hc_handover_kind {
    HC_HANDOVER_CELL,   /* a job with its policy's rules and its filters */
    HC_HANDOVER_ZYGOTE, /* a policy's rules and filters for a zygote, without code and data of a job */
    HC_HANDOVER_COPY    /* a job for a copy of a zygote, which has rules and filters from the zygote */
};

struct hc_handover_head {
    uint32_t magic;                  /* one number for each kind */
    uint32_t json_len;               /* bytes of JSON, padded with blanks to a multiple of 8 */
    uint32_t first_len;              /* bytes of filters.first */
    uint32_t report_len;             /* bytes of filters.report */
    uint32_t job_len;                /* bytes of filters.own */
    char version[sizeof hc_version]; /* version of the launcher that wrote the handover */
};

/* Descriptors of a cell's first process; nothing else is open, and none is of a file of the host:
 *
 *   fd  what it is                    who made it, where      who else has it
 *   0   /dev/null, read-only mount    the cell, in its root   no process: each cell opens its own
 *       or pipe, its end for reading  the launcher            the launcher's process that fills it
 *   1   pipe, its end for writing     the launcher            the launcher has the other end
 *   2   pipe, its end for writing     the launcher            the launcher has the other end
 *   3   SOCK_SEQPACKET                the cell                the launcher has the other end
 *   4   sealed memfd                  the launcher            no process: one for each job
 *   5   SOCK_STREAM                   the launcher            the launcher has the other end
 *
 * The program has the first four of them: 4 is closed before the program's text is compiled, 5 when pid 2 is
 * made. A pipe, a socket and a memfd are inodes without a path that end with the job, so no later job sees
 * what a program does to their times, mode, flags and locks. */
enum hc_cell_fd {
    HC_FD_CONTROL = 3,  /* frames to and from the launcher; the interpreter keeps it */
    HC_FD_HANDOVER = 4, /* the memfd that begins with struct hc_handover_head */
    HC_FD_STATUS = 5    /* pid 1 only: struct hc_exit_report, written once; its hang-up means the launcher is
                           gone */
};

/* Most descriptors that come with HC_FRAME_JOB and HC_FRAME_NEXT: the handover, and the program's standard
 * input if it has one. */
#define HC_JOB_FDS 2
/* The launcher sends this to the interpreter when limits.timeout is over. */
#define HC_SIGNAL_DEADLINE SIGVTALRM
/* The launcher sends this to the interpreter when limits.memory is nearly used up. */
#define HC_SIGNAL_MEMORY SIGPWR

/* The launcher sends this to a session's copy of the interpreter that is to take over (HC_FRAME_KEPT). */
#define HC_SIGNAL_RESUME SIGRTMAX
/* The launcher sends this to the interpreter to end the current run of a session by a KeyboardInterrupt. */
#define HC_SIGNAL_INTERRUPT (SIGRTMAX - 1)

/* A command that a signal has ended gives its process this exit status and the signal's number, as in a
 * shell. */
#define HC_COMMAND_SIGNALED 128

/* The shim's second argument in the cell of a session: pid 1 reports each process that ends. */
#define HC_SHIM_SESSION "session"
/* The shim's second argument as pid 1 of a copy's cell, where the shim is executed once the copy is made; the
 * third argument is the pid of the interpreter. */
#define HC_SHIM_INIT "init"

/* How the interpreter (pid 2) ended, as pid 1 learnt it from waitid. */
struct hc_exit_report {
    int32_t pid;    /* pid of the process in the cell's pid namespace */
    int32_t code;   /* how it ended: CLD_EXITED, CLD_KILLED, CLD_DUMPED */
    int32_t status; /* exit status, or number of the signal */
    /* Processor time in microseconds of all processes that pid 1 waited for, and the most memory in bytes of
     * one of them. A launcher that is not pid 1's parent has no other account. */
    int64_t cpu_user_us, cpu_system_us, interpreter_peak;
};

/* A seccomp filter as bytes; borrowed. */
struct hc_bpf {
    const void *data; /* struct sock_filter[] */
    size_t len;       /* bytes of `data`; 0: there is no filter */
};

/* The filters of a handover (cell/filter.h says what they do). A filter that the kind of handover does not
 * have is empty. */
struct hc_handover_filters {
    struct hc_bpf first;  /* the first filter of the copies of a zygote */
    struct hc_bpf report; /* the reporting filter; a copy has it from its zygote */
    struct hc_bpf own;    /* the job's filter; a copy may have it from its zygote (hc_handover_locks_early) */
};

/* Append a handover of this kind to `out`. `policy` is the effective policy. */
int hc_handover_write(enum hc_handover_kind kind, const struct hc_job *job, const struct hc_policy *policy,
                      const struct hc_handover_filters *filters, struct hc_buf *out, struct hc_error *err);

/* Does a copy of a zygote install the job's filter before it has a job? It does not if the policy has code of
 * its own ("prelude") to run before the job's: that code may make calls that the job may not make. */
bool hc_handover_locks_early(const cJSON *rules);

/* An input of the job. */
struct hc_handover_input {
    /* Name of the variable; path of the file in the cell; name of the enum hc_input_format. */
    const char *name, *path, *format;
};

/* The document, decoded. Its texts and nodes belong to the handover. A text that the document lacks is "", a
 * node NULL. */
struct hc_handover_job {
    const char *code; /* the program; of a command its arguments, as JSON */
    bool command;     /* the job is a command */
    const char
        *workdir; /* directory in which a command of a session, or a context, begins; "": the session's */
    const char *filename;  /* file name of the program, "<cell>" */
    const char *timeout;   /* limits.timeout, as text for a message: "60s" */
    const char *layers;    /* names of the tree's layers (hc_policy_layers); "" in a copy of a zygote */
    const char *interface; /* name of the interface that the job came through (policy/interface.def) */
    struct hc_handover_input *inputs; /* inputs of the job; owned */
    size_t input_count;               /* number of `inputs` */
    bool has_vars;                    /* the document's text has variables, for Python to read */
    bool has_given;                   /* the document's text has inputs that came with a session's run */
    bool interactive; /* standard input comes from the client when the program calls input() */
    bool has_stdin;   /* standard input is a pipe, and not /dev/null */
    bool has_seed;    /* the job gives a seed */
    uint32_t seed;    /* seed of the hashes of str and of random; used if `has_seed` */
    bool session, check, guard, learn, network,
        processes;           /* flags of the job and of its policy, as in the document */
    enum hc_checker checker; /* which process of a session checks the program; used with `check` */
    bool links;              /* there may be symbolic links below /tmp, in a directory of the host */
    int64_t figures;         /* most figures of each kind that are saved */
    int64_t figure_bytes, value_bytes; /* most bytes of one figure; of the report */
    int64_t memory, output, tmp;  /* most bytes that the cell may use; `output` 0: /output is not capped */
    const cJSON *returns, *tools; /* lists, which Python reads */
    const cJSON *args, *env;      /* a list and an object of strings, which Python reads */
    const cJSON *rules; /* rules of the policy; NULL for a copy of a zygote, which has the zygote's rules */
};

struct hc_handover {
    enum hc_handover_kind kind;         /* kind of the handover */
    struct hc_handover_filters filters; /* point into the bytes given to hc_handover_split, as does `text` */
    const char *text;                   /* the JSON document */
    size_t text_len;                    /* bytes of `text` */
    struct hc_json json;                /* owns its tree; its text points into the same bytes */
    struct hc_handover_job job;         /* the document, decoded */
};

/* Reading takes two steps, since the document has texts from strangers and the filters do not:
 * hc_handover_split finds the parts, hc_handover_parse reads the document into `json` and `job`. */
int hc_handover_split(struct hc_handover *out, const void *data, size_t len, struct hc_error *err);
int hc_handover_parse(struct hc_handover *h, struct hc_error *err);
void hc_handover_finish(struct hc_handover *h);

/* The document of a job under this zygote's policy that runs `code` outside any session; the caller frees it.
 * NULL: out of memory. */
char *hc_handover_sample(const struct hc_handover *zygote, const char *code);

#endif
