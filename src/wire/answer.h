/* answer.h - parse an HTTP/1.1 response for the client of a daemon (RFC 9112): it takes bytes, and finds the
 * status, two headers and the body. The bytes may break the rules of HTTP. */
#ifndef HC_WIRE_ANSWER_H
#define HC_WIRE_ANSWER_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* The part of the response that the next bytes belong to. */
enum hc_answer_state {
    HC_ANSWER_HEAD,       /* the head, from the status line to the blank line */
    HC_ANSWER_COUNTED,    /* a body of known length */
    HC_ANSWER_TO_END,     /* a body that ends with the connection */
    HC_ANSWER_CHUNK_SIZE, /* the line with the next chunk's size, in a body in chunks */
    HC_ANSWER_CHUNK,      /* the bytes of a chunk */
    HC_ANSWER_CHUNK_END,  /* the line break behind a chunk */
    HC_ANSWER_TRAILER,    /* the lines behind the last chunk */
    HC_ANSWER_DONE,       /* nothing: the response is complete */
};

struct hc_answer {
    int status;         /* the response's HTTP status; 0 until the head is whole */
    char type[64];      /* Content-Type without parameters; empty: none */
    char location[256]; /* the header Location; empty: none */
    struct hc_buf body; /* bytes of the body so far. A caller that takes them clears the buffer; `body.max`,
                         * which the caller sets, bounds it */
    enum hc_answer_state state; /* the part that comes next */
    struct hc_buf line;         /* the part so far of the head, or of a line within a body in chunks */
    uint64_t left;              /* bytes of the body or of the chunk that are still to come */
    bool chunked, counted;      /* the head has Transfer-Encoding: chunked; it has Content-Length */
};

/* Feed the next bytes of the connection. Bytes behind the response are ignored. -1: the bytes are not HTTP,
 * or beyond a bound. */
int hc_answer_feed(struct hc_answer *a, const char *data, size_t len, struct hc_error *err);

/* To be called when the connection has ended. -1: it ended in the middle of the response. */
int hc_answer_end(struct hc_answer *a, struct hc_error *err);

void hc_answer_finish(struct hc_answer *a);

#endif
