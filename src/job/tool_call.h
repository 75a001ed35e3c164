/* tool_call.h - one call of a tool: what the guest's process asks for, hostile text, and what it is answered;
 * and the account of all calls of a job, for the manifest. */
#ifndef HC_JOB_TOOL_CALL_H
#define HC_JOB_TOOL_CALL_H

#include "policy/tool.h"

/* The payload of HC_FRAME_TOOL_CALL: {"id": n, "name": text, "arguments": {...}}, all of them and no other.
 */
struct hc_tool_call {
    uint32_t id; /* from 1 */
    const char *name;
    const cJSON *arguments;
    const char *source; /* of the arguments, as written; points into the text */
    size_t source_len;
    struct hc_json json; /* owns it all */
};

/* The text must outlive the call. HC_EXIT_DATA: it breaks the protocol. */
int hc_tool_call_parse(struct hc_tool_call *out, const char *text, size_t len, struct hc_error *err);
void hc_tool_call_finish(struct hc_tool_call *call);

/* What a path argument becomes: *out is malloc'd. HC_EXIT_DATA: refused, and why. */
typedef int hc_tool_resolver(void *ctx, const struct hc_tool_path *path, const char *value, char **out,
                             struct hc_error *err);

/* The arguments as the tool gets them, appended to `out` as JSON in one line: checked by the schema, with its
 * defaults for what is missing, paths resolved, everything else as it was written. HC_EXIT_DATA: refused by
 * the schema;
 * `*by_path`: by the resolver. */
int hc_tool_arguments(const struct hc_tool *tool, const struct hc_tool_call *call, hc_tool_resolver *resolve,
                      void *ctx, struct hc_buf *out, bool *by_path, struct hc_error *err);

/* The payload of HC_FRAME_TOOL_RESULT: {"id": n, "value": <json>} or {"id": n, "error": text}. */
int hc_tool_answer_value(struct hc_buf *out, uint32_t id, const char *json, size_t len);
int hc_tool_answer_error(struct hc_buf *out, uint32_t id, const char *message);

/* Text that a tool wrote, as one clean line: the first that is not blank, without control characters. */
void hc_tool_clean(char *out, size_t size, const char *text, size_t len);

/* ---- the account ---- */

enum hc_tool_status {
    HC_TOOL_OK,
    HC_TOOL_ERROR,   /* it said so, or what it said was no JSON */
    HC_TOOL_TIMEOUT, /* its own */
    HC_TOOL_REFUSED, /* it never ran */
    HC_TOOL_ENDED,   /* the job ended first */
    HC_TOOL_STATUSES
};

const char *hc_tool_status_name(enum hc_tool_status status); /* "ok", ... */

#define HC_TOOL_ARGUMENTS_SHOWN 1000  /* bytes of a call's arguments */
#define HC_TOOL_CALLS_LISTED    10000 /* calls */
#define HC_TOOL_REFUSED_LISTED  100   /* of them refused ones */

struct hc_tool_entry {
    char name[HC_TOOL_NAME + 1];
    char *arguments; /* owned; JSON, perhaps cut. NULL: nothing that may be shown */
    int64_t argument_bytes;
    enum hc_tool_status status;
    char message[256]; /* of a failure; empty: none */
    char started[40];  /* RFC 3339 */
    int64_t wall_us;
    int64_t result_bytes; /* -1: none */
};

/* Zero-initialised is empty. */
struct hc_tool_log {
    struct hc_tool_entry *items; /* owned */
    size_t count, refused;
    bool more; /* some are not listed */
};

/* A new entry, filled in by the caller; `log` owns it and may move it. NULL: it is not listed. */
struct hc_tool_entry *hc_tool_log_add(struct hc_tool_log *log, const char *name, const char *arguments,
                                      size_t len, bool refused);
void hc_tool_log_finish(struct hc_tool_log *log);

#endif
