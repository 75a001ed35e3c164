#include "wire/events.h"

#include "base/utf8.h"
#include "json/json.h"

#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536 /* bytes of output in one line, so that a line stays short */

static const char *const stream_names[] = {"stdout", "stderr"};

void hc_events_finish(struct hc_events *e)
{
    hc_buf_finish(&e->lines);
    *e = (struct hc_events){0};
}

void hc_events_state(struct hc_events *e, const char *state)
{
    (void)hc_buf_fmt(&e->lines, "{\"event\": \"state\", \"state\": \"%s\"}\n", state);
}

/* The beginning of a line, up to its own members. */
static void put_head(struct hc_events *e, const char *event)
{
    (void)hc_buf_fmt(&e->lines, "{\"event\": \"%s\", ", event);
    if (e->command)
        (void)hc_buf_fmt(&e->lines, "\"command\": \"%s\", ", e->command);
}

void hc_events_cut(struct hc_events *e, const char *name, int64_t omitted)
{
    put_head(e, "cut");
    (void)hc_buf_fmt(&e->lines, "\"stream\": \"%s\"", name);
    if (omitted)
        (void)hc_buf_fmt(&e->lines, ", \"omitted\": %lld", (long long)omitted);
    (void)hc_buf_str(&e->lines, "}\n");
}

static void put_base64(struct hc_buf *out, const char *data, size_t len)
{
    size_t room = sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
    char *text = malloc(room);
    if (text)
        (void)hc_buf_fmt(
            out, "\"%s\"",
            sodium_bin2base64(text, room, (const unsigned char *)data, len, sodium_base64_VARIANT_ORIGINAL));
    else
        (void)hc_buf_str(out, "null");
    free(text);
}

static void put_line(struct hc_events *e, enum hc_event_stream stream, const char *data, size_t len)
{
    if (len == 0 || e->tails[stream].cut)
        return;
    size_t before = e->lines.len;
    /* Strict readers refuse a text with a NUL, as a NUL would end the text for C. */
    bool plain = hc_utf8_valid(data, len, NULL) && !memchr(data, '\0', len);
    put_head(e, stream_names[stream]);
    (void)hc_buf_fmt(&e->lines, "\"%s\": ", plain ? "text" : "data");
    if (plain)
        hc_json_quote(&e->lines, data, len);
    else
        put_base64(&e->lines, data, len);
    (void)hc_buf_str(&e->lines, "}\n");
    if (e->lines.len <= HC_EVENTS_MAX)
        return;
    e->lines.len = before;
    e->tails[stream].cut = true;
    hc_events_cut(e, stream_names[stream], 0);
}

/* Takes from `data` the rest of the character whose beginning is held back. Returns how many bytes were
 * taken. */
static size_t complete_character(struct hc_events *e, enum hc_event_stream stream, const char *data,
                                 size_t len)
{
    char *bytes = e->tails[stream].bytes;
    size_t *held = &e->tails[stream].len, taken = 0;
    while (taken < len && *held < sizeof e->tails[stream].bytes && hc_utf8_unfinished(bytes, *held) == *held)
        bytes[(*held)++] = data[taken++];
    if (hc_utf8_unfinished(bytes, *held) == *held && taken == len)
        return taken; /* the character is still not whole */
    put_line(e, stream, bytes, *held);
    *held = 0;
    return taken;
}

void hc_events_output(struct hc_events *e, enum hc_event_stream stream, const char *data, size_t len)
{
    if (e->tails[stream].len) {
        size_t taken = complete_character(e, stream, data, len);
        data += taken;
        len -= taken;
    }
    while (len) {
        size_t n = len < CHUNK ? len : CHUNK, tail = hc_utf8_unfinished(data, n);
        put_line(e, stream, data, n - tail);
        data += n - tail;
        len -= n - tail;
        if (len == tail) {
            memcpy(e->tails[stream].bytes, data, tail);
            e->tails[stream].len = tail;
            return;
        }
    }
}

void hc_json_one_line(struct hc_buf *out, const char *json, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *end = memchr(json + at, '\n', len - at);
        size_t n = end ? (size_t)(end - json) - at : len - at;
        (void)hc_buf_add(out, json + at, n);
        at += n + 1;
    }
}

void hc_events_json(struct hc_events *e, const char *name, const char *json, size_t len)
{
    (void)hc_buf_fmt(&e->lines, "{\"event\": \"%s\", \"%s\": ", name, name);
    hc_json_one_line(&e->lines, json, len);
    (void)hc_buf_str(&e->lines, "}\n");
}

void hc_events_figure(struct hc_events *e, const struct hc_figure *f)
{
    hc_autobuf text = {0};
    hc_figure_print(f, &text);
    if (!text.failed)
        hc_events_json(e, "figure", text.data, text.len);
}

void hc_events_end(struct hc_events *e)
{
    for (int i = 0; i < 2; i++) {
        put_line(e, (enum hc_event_stream)i, e->tails[i].bytes, e->tails[i].len);
        e->tails[i].len = 0;
    }
    e->ended = true;
}
