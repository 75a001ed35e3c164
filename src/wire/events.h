/* events.h - what happens to a job, as lines of JSON (NDJSON), kept for whoever reads them. Bytes only. */
#ifndef HC_WIRE_EVENTS_H
#define HC_WIRE_EVENTS_H

#include "base/buf.h"
#include "manifest/figure.h"

enum hc_event_stream { HC_EVENT_STDOUT, HC_EVENT_STDERR };

struct hc_events {
    struct hc_buf lines; /* whole lines, never shortened while somebody may read */
    struct {
        char bytes[4]; /* the beginning of a character whose rest has not come */
        size_t len;
        bool cut; /* there was more than HC_EVENTS_MAX */
    } tails[2];
    bool ended; /* no more lines will come */
};

#define HC_EVENTS_MAX ((size_t)8 << 20) /* of output, as lines; the end is told in any case */

void hc_events_finish(struct hc_events *e);

/* {"event": "state", "state": ...} */
void hc_events_state(struct hc_events *e, const char *state);

/* {"event": "stdout", "text": ...}, or "data" with base64 for what is not UTF-8: no byte is changed or lost.
 */
void hc_events_output(struct hc_events *e, enum hc_event_stream stream, const char *data, size_t len);

/* {"event": NAME, NAME: ...}: `json` is one value as text, of any form. */
void hc_events_json(struct hc_events *e, const char *name, const char *json, size_t len);

/* {"event": "figure", "figure": {"path", "mime", "bytes"}} */
void hc_events_figure(struct hc_events *e, const struct hc_figure *f);

/* What is held back of both streams, and no more. */
void hc_events_end(struct hc_events *e);

/* A JSON document as one line: line breaks stand only between its values. */
void hc_json_one_line(struct hc_buf *out, const char *json, size_t len);

#endif
