/* answer.h - an HTTP/1.1 response as the client of a daemon reads it (RFC 9112): bytes in, status, two
 * headers and the body out. The other side is not trusted to keep to the form. */
#ifndef HC_WIRE_ANSWER_H
#define HC_WIRE_ANSWER_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

enum hc_answer_state {
    HC_ANSWER_HEAD,
    HC_ANSWER_COUNTED,    /* a body of known length */
    HC_ANSWER_TO_END,     /* one that ends with the connection */
    HC_ANSWER_CHUNK_SIZE, /* in chunks: the line before one, */
    HC_ANSWER_CHUNK,      /* its bytes, */
    HC_ANSWER_CHUNK_END,  /* the line end behind them, */
    HC_ANSWER_TRAILER,    /* and lines behind the last */
    HC_ANSWER_DONE,
};

struct hc_answer {
    int status;         /* 0 until the head is whole */
    char type[64];      /* Content-Type without parameters; empty: none */
    char location[256]; /* empty: none */
    struct hc_buf
        body; /* what has come of it. Whoever takes it away clears the buffer; `body.max` bounds it */
    enum hc_answer_state state;
    struct hc_buf line; /* the head, or a line within a body in chunks, as far as it has come */
    uint64_t left;      /* of the body or the chunk */
    bool chunked, counted;
};

/* The next bytes of the connection. What follows the response is left aside. -1: not HTTP, or beyond a bound.
 */
int hc_answer_feed(struct hc_answer *a, const char *data, size_t len, struct hc_error *err);

/* The connection has ended. -1: in the middle of the response. */
int hc_answer_end(struct hc_answer *a, struct hc_error *err);

void hc_answer_finish(struct hc_answer *a);

#endif
