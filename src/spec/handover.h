/* handover.h - what the launcher hands to the shim in one sealed memfd: a JSON document and two seccomp
 * filters, the reporting one and the job's own.
 *
 * Layout: struct hc_handover_head, then json_len bytes of JSON, then the filters, struct sock_filter[] both.
 * The document: {"code", "filename", "inputs": [{"name", "path", "format"}], "vars": {..}, "seed": n |
 * absent, "timeout": text, "figures", "figure_bytes", "value_bytes", "processes": bool, "network": bool,
 * "check": bool, "guard": bool, "learn": true | absent, "session": true | absent, "rules": {section: {key:
 * value}}, "returns":
 * [{"name", "format"}], "tools": [{"name", "argument_bytes", "description" | absent, "parameters" | absent}]
 * | absent}. "rules" is what rules.h checked; with guard off it lacks the guard's. */
#ifndef HC_SPEC_HANDOVER_H
#define HC_SPEC_HANDOVER_H

#include "spec/job.h"

#include <signal.h>

#define HC_HANDOVER_MAGIC  0x68634832u /* "hcH2" */
#define HC_HANDOVER_ZYGOTE 0x68635a32u /* "hcZ2": of a zygote */

struct hc_handover_head {
    uint32_t magic;
    uint32_t json_len;
    uint32_t report_len;
    uint32_t job_len;
};

/* Descriptors of a cell's first process; nothing else is open. */
enum hc_cell_fd {
    HC_FD_CONTROL = 3,  /* SOCK_SEQPACKET to the launcher; the interpreter keeps it */
    HC_FD_HANDOVER = 4, /* the sealed memfd; closed before guest code is compiled */
    HC_FD_STATUS =
        5, /* pid 1 only: struct hc_exit_report, written once; its hang-up means the launcher is gone */
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
/* For pid 1 of a zygote's cell, which executes the shim anew; the third is the pid of the interpreter. */
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

int hc_handover_write(const struct hc_job *job, const struct hc_policy *policy, struct hc_bpf report,
                      struct hc_bpf own, struct hc_buf *out, struct hc_error *err);

/* The same for a zygote: with a job that has neither code nor data; `own` is its cells' first filter. */
void hc_handover_for_zygote(struct hc_buf *handover);

struct hc_handover {
    struct hc_bpf report, own; /* point into the bytes given to hc_handover_split, as does `text` */
    const char *text;
    size_t text_len;
    bool zygote;
    struct hc_json json; /* owns its tree; its text points into the same bytes */
};

/* In two steps, since the document holds texts from strangers and the filters do not: tell the parts, then
 * read the document. */
int hc_handover_split(struct hc_handover *out, const void *data, size_t len, struct hc_error *err);
int hc_handover_parse(struct hc_handover *h, struct hc_error *err);
void hc_handover_finish(struct hc_handover *h);

#endif
