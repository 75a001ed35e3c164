/* output_filter.h - redact an output stream, then shorten it to a limit: keep its beginning, or its
 * beginning and end, with a note where text is missing. Characters are never cut. */
#ifndef HC_MANIFEST_OUTPUT_FILTER_H
#define HC_MANIFEST_OUTPUT_FILTER_H

#include "manifest/manifest.h"
#include "policy/redact.h"

struct hc_output_filter {
    struct hc_redaction *redaction; /* state of redacting the stream; owned; NULL: it is not redacted */
    struct hc_stream *stream;       /* gets text, bytes, redactions and the flags; borrowed */
    const char *note;               /* text that stands for the missing part; borrowed; empty: none */
    bool ends;                      /* keep the beginning and the end, not only the beginning */
    int64_t max, head;              /* most bytes that are shown in all; most of these at the beginning */
    int64_t total;                  /* bytes of redacted output that have come so far */
    int64_t given;                  /* bytes of the beginning that were passed on so far */
    char part[4];                   /* the bytes so far of a character that is not complete */
    size_t part_len;                /* bytes of `part` */
    struct hc_buf tail;             /* with `ends`: at least the last bytes that may be shown; owned */
};

/* Make a filter, which the caller frees; `redactor` (NULL: none) and `stream` are borrowed. *out is NULL if
 * the policy neither redacts nor shortens output beyond `max` bytes. -1: no memory. */
int hc_output_filter_new(struct hc_output_filter **out, const struct hc_policy *policy,
                         const struct hc_redactor *redactor, int64_t max, struct hc_stream *stream,
                         struct hc_error *err);
void hc_output_filter_free(struct hc_output_filter *s);

/* Filter the next piece of output; filter what is still held at the stream's end. Text to be passed on is
 * appended to `out` and to the stream's text. */
void hc_output_filter_feed(struct hc_output_filter *s, const char *data, size_t len, struct hc_buf *out);
void hc_output_filter_finish(struct hc_output_filter *s, struct hc_buf *out);

#endif
