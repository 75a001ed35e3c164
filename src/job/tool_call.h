/* tool_call.h - parse one call of a tool, which is hostile text from the guest's process, and print the
 * answer; and keep the list of all calls of a job, for the manifest. */
#ifndef HC_JOB_TOOL_CALL_H
#define HC_JOB_TOOL_CALL_H

#include "policy/tool.h"

/* The payload of HC_FRAME_TOOL_CALL: {"id": n, "name": text, "arguments": {...}}, with exactly these members.
 */
struct hc_tool_call {
    uint32_t id;            /* the call's number in its cell, from 1 */
    const char *name;       /* name of the tool; borrowed from `json` */
    const cJSON *arguments; /* an object; borrowed from `json` */
    const char *source;     /* the arguments as they were written; points into the text */
    size_t source_len;      /* bytes of `source` */
    struct hc_json json;    /* the parsed payload; owned */
};

/* Parse a call; `text` must outlive it. HC_EXIT_DATA: the text breaks the protocol. */
int hc_tool_call_parse(struct hc_tool_call *out, const char *text, size_t len, struct hc_error *err);
void hc_tool_call_finish(struct hc_tool_call *call);

/* Resolves a path argument: *out is the path that the tool gets, malloc'd. HC_EXIT_DATA: the path is refused.
 */
typedef int hc_tool_resolver(void *ctx, const struct hc_tool_path *path, const char *value, char **out,
                             struct hc_error *err);

/* Append the arguments as the tool gets them to `out`, as JSON in one line: checked against the schema, with
 * its defaults for missing arguments and with paths resolved; all else as it was written. HC_EXIT_DATA: they
 * are refused, by the resolver if `*by_path`, else by the schema. */
int hc_tool_arguments(const struct hc_tool *tool, const struct hc_tool_call *call, hc_tool_resolver *resolve,
                      void *ctx, struct hc_buf *out, bool *by_path, struct hc_error *err);

/* Append the payload of HC_FRAME_TOOL_RESULT to `out`: {"id": n, "value": <json>} or {"id": n, "error":
 * text}. -1: no memory. */
int hc_tool_answer_value(struct hc_buf *out, uint32_t id, const char *json, size_t len);
int hc_tool_answer_error(struct hc_buf *out, uint32_t id, const char *message);

/* Copy text that a tool wrote to `out`: the first line that is not blank, without control characters. */
void hc_tool_clean(char *out, size_t size, const char *text, size_t len);

/* ---- the list of calls ---- */

enum hc_tool_status {
    HC_TOOL_OK,      /* the tool returned a value */
    HC_TOOL_ERROR,   /* the tool reported an error, or its answer was not JSON */
    HC_TOOL_TIMEOUT, /* the tool took longer than its own timeout */
    HC_TOOL_REFUSED, /* the launcher refused the call; the tool did not run */
    HC_TOOL_ENDED,   /* the job ended before the call did */
    HC_TOOL_STATUSES
};

const char *hc_tool_status_name(enum hc_tool_status status); /* "ok", ... */

#define HC_TOOL_ARGUMENTS_SHOWN 1000  /* most bytes of a call's arguments that an entry keeps */
#define HC_TOOL_CALLS_LISTED    10000 /* most calls in the list */
#define HC_TOOL_REFUSED_LISTED  100   /* most refused calls among them */

struct hc_tool_entry {
    char name[HC_TOOL_NAME + 1]; /* name of the tool */
    char *arguments;             /* arguments as JSON, perhaps cut; owned. NULL: none, or redaction failed */
    int64_t argument_bytes;      /* bytes of the arguments before the cut */
    enum hc_tool_status status;  /* how the call ended */
    char message[256];           /* why the call failed; empty: it did not */
    char started[40];            /* when the call came, as hc_clock_text writes it */
    int64_t wall_us;             /* time from the coming of the call to its end, in microseconds */
    int64_t result_bytes;        /* bytes of the result as JSON; -1: no result */
};

/* The list of calls of a job, or of a session's run. A zero-initialised list is empty. */
struct hc_tool_log {
    struct hc_tool_entry *items; /* the entries; owned */
    size_t count, refused;       /* number of entries; refused calls among them */
    bool more;                   /* some calls are not listed */
};

/* Add an entry, which the caller completes; `log` owns it and may move it. NULL: the call is not listed. */
struct hc_tool_entry *hc_tool_log_add(struct hc_tool_log *log, const char *name, const char *arguments,
                                      size_t len, bool refused);
void hc_tool_log_finish(struct hc_tool_log *log);

#endif
