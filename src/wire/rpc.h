/* rpc.h - messages of JSON-RPC 2.0, one a line: bytes in, one message or one refusal out. */
#ifndef HC_WIRE_RPC_H
#define HC_WIRE_RPC_H

#include "json/json.h"

/* Error codes: those of JSON-RPC, and of the Model Context Protocol. */
#define HC_RPC_PARSE_ERROR     (-32700)
#define HC_RPC_INVALID_REQUEST (-32600)
#define HC_RPC_NO_METHOD       (-32601)
#define HC_RPC_INVALID_PARAMS  (-32602)
#define HC_RPC_INTERNAL        (-32603)
#define HC_RPC_NO_RESOURCE     (-32002)

#define HC_RPC_ID_MAX 256 /* bytes of an id as it was written; ours to remember for as long as it is open */

enum hc_rpc_kind {
    HC_RPC_REQUEST,
    HC_RPC_NOTIFICATION,
    HC_RPC_RESPONSE, /* to a request of ours */
};

struct hc_rpc {
    struct hc_json json; /* owned; the text has to outlive the message */
    enum hc_rpc_kind kind;
    char id[HC_RPC_ID_MAX + 1]; /* JSON text, as it was written; "null": there is none */
    const char *method;         /* of the document; NULL for a response */
    const cJSON *params;        /* of the document, an object; NULL: none */
};

/* Take one message. -1: refused, `code` and `err` say why, and `out->id` whom to tell. Finish `out` in either
 * case. */
int hc_rpc_parse(struct hc_rpc *out, const char *text, size_t len, int *code, struct hc_error *err);
void hc_rpc_finish(struct hc_rpc *m);

/* An id as JSON text; false: it is none that a request may have. */
bool hc_rpc_id(const struct hc_json *j, const cJSON *node, char out[HC_RPC_ID_MAX + 1]);

/* Lines of a stream of which none is held that is longer than `max`. */
struct hc_rpc_lines {
    struct hc_buf buf;
    size_t max;           /* set by the owner */
    size_t start, looked; /* of the line that is next, and how far there is no end of it */
    bool skipping;        /* until the end of a line that was too long */
};

enum hc_rpc_line {
    HC_RPC_LINE, /* here it is */
    HC_RPC_MORE, /* feed more */
    HC_RPC_LONG, /* longer than `max`: told once, and dropped to its end */
    HC_RPC_NO_MEMORY,
};

/* The text of a line, without its end, is good until more is fed. Blank lines are left out. */
void hc_rpc_feed(struct hc_rpc_lines *l, const char *data, size_t len);
enum hc_rpc_line hc_rpc_next(struct hc_rpc_lines *l, const char **text, size_t *len);
void hc_rpc_lines_finish(struct hc_rpc_lines *l);

#endif
