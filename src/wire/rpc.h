/* rpc.h - parse messages of JSON-RPC 2.0, one per line: bytes become one message or one refusal. */
#ifndef HC_WIRE_RPC_H
#define HC_WIRE_RPC_H

#include "json/json.h"

/* Error codes: those of JSON-RPC, and of the Model Context Protocol. */
#define HC_RPC_PARSE_ERROR     (-32700) /* the message is no JSON */
#define HC_RPC_INVALID_REQUEST (-32600) /* the message is JSON, but no message of JSON-RPC */
#define HC_RPC_NO_METHOD       (-32601) /* there is no such method */
#define HC_RPC_INVALID_PARAMS  (-32602) /* the method's parameters are wrong */
#define HC_RPC_INTERNAL        (-32603) /* the server failed */
#define HC_RPC_NO_RESOURCE     (-32002) /* there is no such resource */

#define HC_RPC_ID_MAX 256 /* most bytes of an id as JSON, which is kept until its request is answered */

enum hc_rpc_kind {
    HC_RPC_REQUEST,      /* has a method and an id, which gets an answer */
    HC_RPC_NOTIFICATION, /* has a method and no id */
    HC_RPC_RESPONSE,     /* answers a request of this program; has no method */
};

struct hc_rpc {
    struct hc_json json;        /* the parsed message; owned; the text has to outlive it */
    enum hc_rpc_kind kind;      /* kind of the message */
    char id[HC_RPC_ID_MAX + 1]; /* JSON text, as it was written; "null": the message has no id */
    const char *method;         /* name of the method; borrowed from `json`; NULL for a response */
    const cJSON *params;        /* parameters of the method, an object; borrowed from `json`; NULL: none */
};

/* Parse one message. -1: it is refused; `code` and `err` say why, and `out->id` is the id for the answer.
 * Finish `out` in either case. */
int hc_rpc_parse(struct hc_rpc *out, const char *text, size_t len, int *code, struct hc_error *err);
void hc_rpc_finish(struct hc_rpc *m);

/* Copies an id as JSON text to `out`; false: a request may not have such an id. */
bool hc_rpc_id(const struct hc_json *j, const cJSON *node, char out[HC_RPC_ID_MAX + 1]);

/* The lines of a stream. A line longer than `max` is dropped and not held in memory. */
struct hc_rpc_lines {
    struct hc_buf buf;      /* bytes that were fed and may still be needed; owned */
    size_t max;             /* most bytes of a line; set by the owner */
    size_t start, searched; /* offsets in `buf`: of the next line; up to where that line has no line break */
    bool skipping;          /* bytes are dropped up to the end of a line that was too long */
};

enum hc_rpc_line {
    HC_RPC_LINE,      /* `text` is a line */
    HC_RPC_MORE,      /* no whole line is there: feed more */
    HC_RPC_LONG,      /* a line was longer than `max`: returned once for the line, which is dropped */
    HC_RPC_NO_MEMORY, /* the bytes up to the next line break are lost */
};

/* Add bytes of the stream; get the next line, whose text, without its line break, is valid until more is fed.
 * Blank lines are left out. */
void hc_rpc_feed(struct hc_rpc_lines *l, const char *data, size_t len);
enum hc_rpc_line hc_rpc_next(struct hc_rpc_lines *l, const char **text, size_t *len);
void hc_rpc_lines_finish(struct hc_rpc_lines *l);

#endif
