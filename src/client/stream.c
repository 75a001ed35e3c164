#include "client/stream.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/plain.h"
#include "client/ask.h"
#include "json/json.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define MAX_LINE ((size_t)512 << 20) /* most bytes of one event: a manifest is one line */

void hc_stream_finish(struct hc_stream_reader *s)
{
    hc_buf_finish(&s->line);
    free(s->manifest);
    free(s->problem);
    s->manifest = s->problem = NULL;
}

/* ---- output ---- */

/* The reader of our output may be slow or stopped, and a signal must end us all the same. So a write is at
 * most PIPE_BUF bytes, which a pipe that polls as writable takes without blocking. */
static void write_output(const struct hc_stream_reader *s, struct hc_event_stream_end *to, const char *data,
                         size_t len)
{
    while (len && to->fd >= 0) {
        struct pollfd fds[2] = {{.fd = to->fd, .events = POLLOUT}, {.fd = s->cancel_fd, .events = POLLIN}};
        if (TEMP_FAILURE_RETRY(poll(fds, 2, -1)) > 0 && !fds[0].revents && fds[1].revents)
            return;
        ssize_t n = TEMP_FAILURE_RETRY(write(to->fd, data, MIN(len, PIPE_BUF)));
        if (n < 0 && errno == EAGAIN)
            continue;
        if (n < 0) {
            to->pass_errno = errno == EPIPE ? 0 : errno;
            to->fd = -1; /* borrowed: its owner closes it */
            return;
        }
        data += n;
        len -= (size_t)n;
    }
}

static int pass_base64(const struct hc_stream_reader *s, struct hc_event_stream_end *to, const char *text,
                       struct hc_error *err)
{
    size_t text_len = strlen(text), room = text_len / 4 * 3 + 3, len = 0;
    const char *end = NULL;
    char *data = malloc(room);
    if (!data)
        return hc_fail(err, ENOMEM, "read the output");
    bool good = sodium_base642bin((unsigned char *)data, room, text, text_len, NULL, &len, &end,
                                  sodium_base64_VARIANT_ORIGINAL) == 0 &&
                end == text + text_len;
    if (good)
        write_output(s, to, data, len);
    free(data);
    return good ? 0 : hc_fail(err, 0, "read the output: expected base64");
}

static int pass_output(const struct hc_stream_reader *s, struct hc_event_stream_end *to, const cJSON *event,
                       struct hc_error *err)
{
    const cJSON *text = hc_json_member(event, "text");
    const cJSON *data = hc_json_member(event, "data");
    if (cJSON_IsString(data))
        return pass_base64(s, to, data->valuestring, err);
    if (!cJSON_IsString(text))
        return hc_fail(err, 0, "expected output as text or data");
    write_output(s, to, text->valuestring, strlen(text->valuestring));
    return 0;
}

/* ---- events ---- */

static int keep_object(const struct hc_json *j, const char *name, char **out, struct hc_error *err)
{
    const cJSON *node = hc_json_member(j->root, name);
    size_t len = 0;
    const char *text = cJSON_IsObject(node) ? hc_json_source(j, node, &len) : NULL;
    if (!text)
        return hc_fail(err, 0, "expected %s as an object", name);
    free(*out);
    *out = strndup(text, len);
    return *out ? 0 : hc_fail(err, ENOMEM, "%s", name);
}

static const char *text_for_terminal(const cJSON *hold, const char *name)
{
    char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(hold, name)); /* changed in place */
    if (text)
        hc_plain_line(text);
    return text;
}

/* Tells the user that an administrator holds the jobs of this tenant, or lets them run again. */
static void report_hold(const cJSON *hold)
{
    const char *since = text_for_terminal(hold, "since"), *by = text_for_terminal(hold, "by"),
               *reason = text_for_terminal(hold, "reason");
    if (!since || !by)
        hc_info("hotcelld: the tenant is not held any more");
    else
        hc_info("hotcelld: the job waits: the tenant is held since %.40s by %.80s%s%.600s", since, by,
                reason ? ": " : "", reason ? reason : "");
}

static int read_event(struct hc_stream_reader *s, const struct hc_json *j, struct hc_error *err)
{
    const char *event = hc_json_text(j->root, "event");
    if (strcmp(event, "stdout") == 0)
        return pass_output(s, &s->out, j->root, err);
    if (strcmp(event, "stderr") == 0)
        return pass_output(s, &s->err, j->root, err);
    if (strcmp(event, "manifest") == 0)
        return keep_object(j, event, &s->manifest, err);
    if (strcmp(event, "problem") == 0)
        return keep_object(j, event, &s->problem, err);
    if (strcmp(event, "tool_call") == 0)
        return s->call(s->call_data, j, err);
    if (strcmp(event, "held") == 0)
        report_hold(hc_json_member(j->root, event));
    if (strcmp(event, "cut") == 0) {
        const cJSON *stream = hc_json_member(j->root, "stream");
        bool is_err = cJSON_IsString(stream) && strcmp(stream->valuestring, "stderr") == 0;
        (is_err ? &s->err : &s->out)->cut = true;
    }
    return 0; /* events for other clients, or of a later version */
}

static int read_line(struct hc_stream_reader *s, const char *line, size_t len, struct hc_error *err)
{
    struct hc_json j;
    if (hc_json_parse(&j, "event", line, len, err) < 0)
        return -1;
    int rc = read_event(s, &j, err);
    hc_json_finish(&j);
    return rc;
}

/* Replaces each line end by a NUL, as the JSON parser needs the text to end there. */
static int read_lines(struct hc_stream_reader *s, struct hc_error *err)
{
    struct hc_buf *b = &s->line;
    size_t from = 0;
    const char *end;
    while ((end = memchr(b->data + from + s->searched, '\n', b->len - from - s->searched))) {
        size_t len = (size_t)(end - b->data) - from;
        s->searched = 0;
        b->data[from + len] = '\0';
        if (len && read_line(s, b->data + from, len, err) < 0)
            return -1;
        from += len + 1;
    }
    memmove(b->data, b->data + from, b->len - from);
    b->len -= from;
    s->searched = b->len;
    return 0;
}

int hc_stream_feed(struct hc_stream_reader *s, const char *data, size_t len, struct hc_error *err)
{
    if (!len)
        return 0;
    s->line.max = MAX_LINE;
    if (hc_buf_add(&s->line, data, len) < 0)
        return hc_fail(err, EMSGSIZE, "read the events");
    if (read_lines(s, err) < 0) {
        (void)hc_ctx(err, "events of the job");
        return hc_exit_as(err, HC_EXIT_INTERNAL);
    }
    return 0;
}
