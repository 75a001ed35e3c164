/* frame.h - messages between the shim's interpreter (pid 2) and the launcher, over a SOCK_SEQPACKET pair.
 *
 * One packet is one frame: struct hc_frame_head and at most HC_FRAME_CHUNK bytes. A message longer than that
 * is several frames of one type, the last with HC_FRAME_LAST. The launcher answers HC_FRAME_READY with
 * HC_FRAME_GO, each HC_FRAME_TOOL_CALL with one HC_FRAME_TOOL_RESULT, and otherwise only reads. Everything
 * that arrives after HC_FRAME_RUN may have been written by guest code. */
#ifndef HC_WIRE_FRAME_H
#define HC_WIRE_FRAME_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum hc_frame_type {
    HC_FRAME_READY = 1, /* the interpreter runs, the data is loaded, the job's filter is on; the shim waits
                           for HC_FRAME_GO; no payload */
    HC_FRAME_GO = 2,    /* launcher to shim: the layers are checked, read the program; no payload */
    /* JSON {"findings": [{"rule", "message", "line", "column", "end_column", "hint"}, ...], "more": n}: the
     * program is refused, which ends the job. Only from a process in which no guest code has run. It comes
     * before READY if data could not be loaded. */
    HC_FRAME_REJECTED = 3,
    HC_FRAME_RUN = 4,    /* guest code runs from here on; no payload */
    HC_FRAME_REPORT = 5, /* JSON object: value, error, figures, warnings, inputs' columns, exit, complete */
    /* JSON {"warnings": [finding], "columns": {frame: [names]}}: what the check of the program found without
     * refusing it; between READY and RUN or REJECTED, if there is something to say, and always for a job that
     * is only to be checked: such a job ends with it, or with REJECTED behind it. */
    HC_FRAME_CHECKED = 6,
    /* JSON {"layer","rule","what","line","count","hint"}: something was refused while the program ran. May
     * come between RUN and REPORT, any number of times; a later one with the same layer, rule, what and line
     * replaces an earlier one. */
    HC_FRAME_DENIAL = 7,
    /* The reporting filter is on (cell/filter.h), and its listener comes along as a descriptor, unless the
     * kernel gave none. The first frame of all; no payload. */
    HC_FRAME_FILTERED = 8,
    /* JSON {"id", "name", "arguments"}: the program calls a tool (job/tool_call.h). Between RUN and REPORT,
     * any number of times; ids rise. */
    HC_FRAME_TOOL_CALL = 9,
    /* Launcher to shim, JSON {"id", "value"} or {"id", "error"}: the answer to the call of this id; one for
     * each call, in any order, and none once the program's run is over. */
    HC_FRAME_TOOL_RESULT = 10,
    /* A session (cell/session.h), in which READY comes once, and for each run NEXT, KEPT, GO, and what a job
     * has from CHECKED on. Once a run has begun, the program of each further run is checked by a copy from
     * before the first run: NEXT, KEPT (not if it has checked a program before), GO, then CHECKED if there is
     * something to say, then PASSED or REJECTED. Only then the session's own process gets it: NEXT, KEPT, GO,
     * RUN, and so on. */
    HC_FRAME_NEXT = 11, /* launcher to shim, with a descriptor: the next run as a handover without filters */
    /* A copy of the interpreter has been made and waits for HC_SIGNAL_RESUME; sent by the copy itself, whose
     * pid the kernel tells. The interpreter waits for GO. No payload. */
    HC_FRAME_KEPT = 12,
    HC_FRAME_RESUMED = 13, /* the copy, or what has checked a program, has taken over; or the interpreter has
                              made a copy, and no run follows. The sender waits for NEXT; no payload */
    /* JSON {"path"}: a figure is complete below /output (manifest/figure.h). May come between RUN and REPORT,
     * any number of times. It is only a notice: the launcher looks for itself which figures there are. */
    HC_FRAME_FIGURE = 14,
    /* The check has not refused the program of the next run. The process that sends this then ends, or waits
     * as a copy does (enum hc_checker). No payload. */
    HC_FRAME_PASSED = 15,
    /* Launcher to a shim that was there before its job: the job's handover comes along as a descriptor; no
     * payload. */
    HC_FRAME_JOB = 16,
    /* Instead of KEPT: no copy could be made, and so there is no run; instead of RESUMED: the interpreter
     * cannot enter the directory that it was to go on in. No payload. */
    HC_FRAME_UNKEPT = 17,
    /* JSON {"prompt"}: the program of an interactive run calls input(), and waits for a line of its standard
     * input. Between RUN and REPORT, any number of times. */
    HC_FRAME_INPUT = 18,
    /* Launcher to a shim that waits for its job: processors are idle, so it shall copy the pages that jobs
     * write to; no payload, no answer. */
    HC_FRAME_PREPARE = 19,
    /* A zygote to its launcher, before READY, at most once: why the policy's sample (warm.sample) failed, a
     * text of at most HC_FRAME_SAMPLE_TEXT bytes. No cell that has a job may send it. */
    HC_FRAME_SAMPLE = 20,
    HC_FRAME_TYPES
};

/* Who may send a frame, which decides how far the launcher may believe it. */
enum hc_frame_sender {
    HC_FROM_LAUNCHER, /* the launcher alone: it accepts such a frame from no process */
    HC_FROM_SHIM,     /* a process in which no guest code has run: the launcher reports it as a fact */
    HC_FROM_GUEST,    /* a process in which guest code may have run: the frame is only its claim */
};
enum hc_frame_sender hc_frame_sender(enum hc_frame_type type);

#define HC_FRAME_LAST        0x01  /* flag: the last frame of its message */
#define HC_FRAME_CHUNK       32768 /* most payload bytes of one frame */
#define HC_FRAME_SAMPLE_TEXT 300

struct hc_frame_head {
    uint8_t type;  /* enum hc_frame_type */
    uint8_t flags; /* HC_FRAME_LAST or 0 */
    uint16_t zero; /* must be 0 */
    uint32_t len;  /* payload bytes in this packet */
};

/* Check one packet, and copy its head. On success *payload points into `data`. -1: it is malformed (err). */
int hc_frame_parse(const void *data, size_t len, struct hc_frame_head *head, const void **payload,
                   struct hc_error *err);

/* The state of the launcher's conversation with a process of the cell. */
enum hc_talk_state {
    HC_TALK_START, /* the interpreter starts; a job's first state */
    HC_TALK_READY, /* no guest code has run in the process, and the next program is for it to check and run */
    HC_TALK_CHECKING, /* no guest code has run in the process, and the next program is for it to check only */
    HC_TALK_AGAIN,    /* guest code has run in the process; the next program has been checked elsewhere */
    HC_TALK_IDLE,     /* a session's process has no program to check or run */
    HC_TALK_RUNNING,  /* guest code runs */
    HC_TALK_OVER,     /* the job, or the run of a session, or the check of its program, is over */
    HC_TALKS
};

/* Is it certain in this state that no guest code has run in the process? */
bool hc_talk_untouched(enum hc_talk_state state);

/* Answers that a session's process may give once for each time that the launcher has asked. */
#define HC_ASKED_COPY   0x01 /* a run has been handed over: KEPT or UNKEPT may come */
#define HC_ASKED_RESUME 0x02 /* the process was told to take over, or to wait again: RESUMED may come */

/* The launcher's side of the conversation: it decides which frame may come in which state, and bounds a
 * message. */
struct hc_inbox {
    enum hc_talk_state state; /* state of the conversation */
    enum hc_talk_state first; /* the state in which the conversation began */
    unsigned asked;           /* HC_ASKED_* that have not been answered */
    unsigned seen;            /* a bit (1 << type) for each type of message that has come */
    bool broken;              /* a packet was refused; so are all later ones */
    uint8_t open;             /* type of a message that has begun, 0 if none */
    struct hc_buf body;       /* content of the open message, then of the last finished one */
    size_t max;               /* most bytes of one message; 0 refuses any content */
};

/* Has a message of this type come? */
bool hc_inbox_has(const struct hc_inbox *in, enum hc_frame_type type);

/* May a message of this type begin now? */
bool hc_inbox_expects(const struct hc_inbox *in, enum hc_frame_type type);

/* Feed one packet. Returns the type of the message that it completes, 0 if none, -1 for a packet that breaks
 * the protocol (err says how). After a completed message with a payload, `body` holds it until
 * the next feed. */
int hc_inbox_feed(struct hc_inbox *in, const void *data, size_t len, struct hc_error *err);
void hc_inbox_finish(struct hc_inbox *in);

#endif
