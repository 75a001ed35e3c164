#include "manifest/output_filter.h"

#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void hc_output_filter_free(struct hc_output_filter *s)
{
    if (!s)
        return;
    hc_redaction_free(s->redaction);
    hc_buf_finish(&s->tail);
    free(s);
}

int hc_output_filter_new(struct hc_output_filter **out, const struct hc_policy *policy,
                         const struct hc_redactor *redactor, int64_t max, struct hc_stream *stream,
                         struct hc_error *err)
{
    const char *note = hc_rules_text(policy->rules, "truncation", "note", "");
    bool ends = strcmp(hc_rules_text(policy->rules, "truncation", "keep", "head"), "ends") == 0;
    *out = NULL;
    if (!redactor && !*note && !ends)
        return 0;
    struct hc_output_filter *s = calloc(1, sizeof *s);
    if (!s)
        return hc_fail(err, ENOMEM, "output");
    *s = (struct hc_output_filter){
        .stream = stream, .note = note, .ends = ends, .max = max, .head = ends ? max / 2 : max};
    s->redaction = redactor ? hc_redaction_new(redactor, true) : NULL;
    if (redactor && !s->redaction) {
        hc_output_filter_free(s);
        return hc_fail(err, ENOMEM, "output");
    }
    *out = s;
    return 0;
}

static void pass_on(struct hc_output_filter *s, const char *data, size_t len, struct hc_buf *out)
{
    (void)hc_buf_add(out, data, len);
    (void)hc_buf_add(&s->stream->text, data, len);
}

/* Pass on the policy's note that bytes were left out: {limit} becomes the limit, {bytes} their number. */
static void pass_on_note(struct hc_output_filter *s, int64_t left_out, struct hc_buf *out)
{
    hc_autobuf text = {0};
    for (const char *p = s->note; *p;) {
        if (strncmp(p, "{limit}", 7) == 0) {
            (void)hc_buf_fmt(&text, "%" PRId64, s->max);
            p += 7;
        } else if (strncmp(p, "{bytes}", 7) == 0) {
            (void)hc_buf_fmt(&text, "%" PRId64, left_out);
            p += 7;
        } else {
            (void)hc_buf_add(&text, p++, 1);
        }
    }
    pass_on(s, text.data ? text.data : "", text.len, out);
}

static void keep_tail(struct hc_output_filter *s, const char *data, size_t len)
{
    size_t room =
        (size_t)(s->max - s->head) + 4; /* 4: the shown beginning may end up to a character earlier */
    (void)hc_buf_add(&s->tail, data, len);
    if (s->tail.len <= 2 * room + 65536)
        return;
    memmove(s->tail.data, s->tail.data + s->tail.len - room, room + 1);
    s->tail.len = room;
}

/* Take output that has been redacted. It is passed on as long as the beginning has room; the first bytes of a
 * character wait in `part` until the rest comes. */
static void take_redacted(struct hc_output_filter *s, const char *data, size_t len, struct hc_buf *out)
{
    hc_autobuf joined = {0};
    s->total += (int64_t)len;
    if (s->given < s->head) {
        (void)hc_buf_add(&joined, s->part, s->part_len);
        (void)hc_buf_add(&joined, data, len);
        s->part_len = 0;
        data = joined.data;
        len = joined.len;
        size_t room = (size_t)(s->head - s->given), n = len < room ? len : room;
        bool full = len > room;
        n -= hc_utf8_unfinished(data, n);
        pass_on(s, data, n, out);
        s->given += (int64_t)n;
        data += n;
        len -= n;
        if (!full) {
            s->part_len = len;
            memcpy(s->part, data, len);
            return;
        }
        s->head = s->given;
    }
    if (s->ends)
        keep_tail(s, data, len);
}

void hc_output_filter_feed(struct hc_output_filter *s, const char *data, size_t len, struct hc_buf *out)
{
    struct hc_stream *st = s->stream;
    int64_t room = s->max - st->bytes;
    st->bytes += (int64_t)len;
    if (!s->ends && room < (int64_t)len) {
        st->truncated = true;
        len = room > 0 ? (size_t)room : 0;
    }
    if (!s->redaction) {
        take_redacted(s, data, len, out);
    } else if (len) {
        hc_autobuf clean = {0};
        hc_redaction_feed(s->redaction, data, len, &clean);
        take_redacted(s, clean.data ? clean.data : "", clean.len, out);
    }
    st->truncated = st->truncated || s->total > s->max;
}

static void finish_redaction(struct hc_output_filter *s, struct hc_buf *out)
{
    struct hc_stream *st = s->stream;
    hc_autobuf clean = {0};
    hc_redaction_finish(s->redaction, st->truncated && !s->ends, &clean);
    take_redacted(s, clean.data ? clean.data : "", clean.len, out);
    st->redactions = hc_redaction_count(s->redaction);
    st->shortened = hc_redaction_short(s->redaction);
    st->withheld = hc_redaction_withheld(s->redaction) || hc_redaction_no_memory(s->redaction);
}

void hc_output_filter_finish(struct hc_output_filter *s, struct hc_buf *out)
{
    struct hc_stream *st = s->stream;
    if (s->redaction)
        finish_redaction(s, out);
    st->truncated = st->truncated || s->total > s->max;
    if (!st->truncated) {
        pass_on(s, s->part, s->part_len, out);
        pass_on(s, s->tail.data ? s->tail.data : "", s->tail.len, out);
        return;
    }
    if (!s->ends) {
        pass_on_note(s, st->bytes - s->given, out);
        return;
    }
    size_t room = (size_t)(s->max - s->given), from = s->tail.len > room ? s->tail.len - room : 0;
    /* If the beginning of a character is left out, so is its rest. */
    from = hc_utf8_boundary(s->tail.data, s->tail.len, from);
    size_t kept = s->tail.len - from;
    pass_on_note(s, s->total - s->given - (int64_t)kept, out);
    pass_on(s, s->tail.data ? s->tail.data + from : "", kept, out);
}
