#include "cell/tools/tool_client.h"

#include "base/fd.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>

#define READS 16 /* most reads in one round of the loop */

int hc_tool_client_init(struct hc_tool_client *c, int fd, size_t max, struct hc_error *err)
{
    int type = 0;
    socklen_t len = sizeof type;
    *c = (struct hc_tool_client){.fd = fd, .max = max};
    if (fd >= 0 && (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_STREAM))
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "--tool-fd %d: expected a connected stream socket", fd);
    return 0;
}

void hc_tool_client_finish(struct hc_tool_client *c)
{
    hc_buf_finish(&c->out);
    hc_buf_finish(&c->in);
    c->fd = -1;
}

int hc_tool_client_call(struct hc_tool_client *c, uint32_t id, const struct hc_tool *tool,
                        const char *arguments)
{
    if (c->sent == c->out.len) {
        hc_buf_clear(&c->out);
        c->sent = 0;
    }
    return hc_buf_fmt(&c->out, "{\"id\": %u, \"result_size\": %lld, \"name\": \"%s\", \"arguments\": %s}\n",
                      id, (long long)tool->result_bytes, tool->name, arguments);
}

bool hc_tool_client_send(struct hc_tool_client *c)
{
    while (c->fd >= 0 && c->sent < c->out.len) {
        ssize_t n = TEMP_FAILURE_RETRY(
            send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT));
        if (n < 0)
            return errno == EAGAIN; /* hc_tool_client_read notices that the client has gone */
        c->sent += (size_t)n;
    }
    return false;
}

static int parse_answer(const char *line, size_t len, hc_client_handler *handle, void *ctx,
                        struct hc_error *err)
{
    struct hc_json j;
    struct hc_client_answer answer = {0};
    if (hc_json_parse(&j, "tool client", line, len, err) < 0)
        return -1;
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(j.root, "id");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(j.root, "value");
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(j.root, "error");
    bool fits = cJSON_IsNumber(id) && id->valuedouble >= 1 && id->valuedouble <= UINT32_MAX &&
                id->valuedouble == floor(id->valuedouble) && (value ? !error : cJSON_IsString(error));
    int rc = fits ? 0 : hc_json_fail(&j, j.root, false, err, "expected an id, and a value or an error");
    if (fits) {
        answer.id = (uint32_t)id->valuedouble;
        answer.value = hc_json_source(&j, value, &answer.len);
        answer.error = error ? error->valuestring : "";
        handle(ctx, &answer);
    }
    hc_json_finish(&j);
    return rc;
}

/* `from`: offset of the first byte that was not searched for a newline. */
static int parse_answers(struct hc_tool_client *c, size_t from, hc_client_handler *handle, void *ctx,
                         struct hc_error *err)
{
    size_t begin = 0;
    const char *end;
    while ((end = memchr(c->in.data + from, '\n', c->in.len - from))) {
        size_t len = (size_t)(end - c->in.data) - begin;
        if (parse_answer(c->in.data + begin, len, handle, ctx, err) < 0)
            return -1;
        begin += len + 1;
        from = begin;
    }
    size_t left = c->in.len - begin;
    if (left > c->max)
        return hc_fail(err, 0, "tool client: a line of more than %zu bytes", c->max);
    if (begin) {
        memmove(c->in.data, c->in.data + begin, left);
        c->in.len = left;
        c->in.data[left] = '\0';
    }
    return 0;
}

int hc_tool_client_read(struct hc_tool_client *c, hc_client_handler *handle, void *ctx, struct hc_error *err)
{
    static char chunk[65536];
    for (int i = 0; c->fd >= 0 && i < READS; i++) {
        ssize_t n = TEMP_FAILURE_RETRY(recv(c->fd, chunk, sizeof chunk, MSG_DONTWAIT));
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n <= 0)
            return hc_fail(err, n < 0 ? errno : 0, "the tools' client has gone");
        size_t before = c->in.len;
        if (hc_buf_add(&c->in, chunk, (size_t)n) < 0)
            return hc_fail(err, ENOMEM, "tool client");
        if (parse_answers(c, before, handle, ctx, err) < 0)
            return -1;
    }
    return 0;
}
