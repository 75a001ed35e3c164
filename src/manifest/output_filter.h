/* output_filter.h - what of an output stream is shown: redacted first, then no more than the limit, of which
 * the beginning or both ends are kept, with a note where something is missing. Nothing is cut within a
 * character.
 */
#ifndef HC_MANIFEST_OUTPUT_FILTER_H
#define HC_MANIFEST_OUTPUT_FILTER_H

#include "manifest/manifest.h"
#include "policy/redact.h"

struct hc_output_filter {
    struct hc_redaction *redaction; /* owned; NULL: none */
    struct hc_stream *stream;       /* borrowed; bytes, text, truncated, redactions and so on are kept here */
    const char *note;               /* borrowed; empty: none */
    bool ends;
    int64_t max, head; /* bytes: all that is shown, and what its beginning may have */
    int64_t total;     /* bytes so far, redacted */
    int64_t given;     /* of the beginning */
    char part[4];      /* a character that is not complete yet */
    size_t part_len;
    struct hc_buf tail; /* with `ends`: at least the last bytes that may be shown */
};

/* NULL if the policy asks for nothing of this: then a limit is all that there is. -1: no memory. */
int hc_output_filter_new(struct hc_output_filter **out, const struct hc_policy *policy,
                         const struct hc_redactor *redactor, int64_t max, struct hc_stream *stream,
                         struct hc_error *err);
void hc_output_filter_free(struct hc_output_filter *s);

/* More output. What is to be passed on is appended to `out`, and to the stream's text. */
void hc_output_filter_feed(struct hc_output_filter *s, const char *data, size_t len, struct hc_buf *out);
void hc_output_filter_finish(struct hc_output_filter *s, struct hc_buf *out);

#endif
