/* events.h - the events of a job as lines of JSON (NDJSON), kept for their readers. The functions here only
 * make bytes; they do not send them. */
#ifndef HC_WIRE_EVENTS_H
#define HC_WIRE_EVENTS_H

#include "base/buf.h"
#include "manifest/figure.h"

enum hc_event_stream { HC_EVENT_STDOUT, HC_EVENT_STDERR };

struct hc_events {
    struct hc_buf lines; /* the events, whole lines; never shortened, as readers hold offsets in it; owned */
    struct {
        char bytes[4];   /* the beginning of a character whose rest has not come */
        size_t len;      /* number of `bytes` */
        bool cut;        /* output was left out, as there was more than HC_EVENTS_MAX */
    } tails[2];          /* what is kept of each stream, by enum hc_event_stream */
    const char *command; /* id of the command of a session whose events these are, which is in each line;
                            borrowed; NULL: of a job or a run */
    bool ended;          /* no more lines will come */
    bool restored;       /* the lines are the last event only, made again after all lines were freed */
};

#define HC_EVENTS_MAX ((size_t)8 << 20) /* bytes of lines with output; other lines are added in any case */

void hc_events_finish(struct hc_events *e);

/* The next functions add one event each. This one adds {"event": "state", "state": ...}. */
void hc_events_state(struct hc_events *e, const char *state);

/* {"event": "stdout", "text": ...}, or "data" with base64 for what is not UTF-8: no byte is changed or lost.
 */
void hc_events_output(struct hc_events *e, enum hc_event_stream stream, const char *data, size_t len);

/* {"event": NAME, NAME: ...}: `json` is one value as text, of any form. */
void hc_events_json(struct hc_events *e, const char *name, const char *json, size_t len);

/* {"event": "cut", "stream": NAME}: no more events of this stream come. With `omitted` > 0 the event also has
 * the number of events that were left out, which is known when the run is over. */
void hc_events_cut(struct hc_events *e, const char *name, int64_t omitted);

/* {"event": "figure", "figure": {"path", "mime", "bytes"}} */
void hc_events_figure(struct hc_events *e, const struct hc_figure *f);

/* Add the beginnings of characters that are held back, and mark the events as ended. */
void hc_events_end(struct hc_events *e);

/* Append a JSON document as one line, by leaving out its line breaks, which JSON allows only between values.
 */
void hc_json_one_line(struct hc_buf *out, const char *json, size_t len);

#endif
