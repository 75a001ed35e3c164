/* Sessions, each held by a `hotcell session` of this same binary, with lines of JSON over two pipes. */
#include "mcp/child/stdio.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINE ((size_t)256 << 20) /* most bytes of a session's answer, which holds a manifest */

static struct hc_child_session *child_of(struct hc_mcp *m, const struct hc_session_place *s)
{
    return &hc_stdio_of(m)->sessions[s - m->sessions];
}

/* ---- requests ---- */

void hc_child_write(struct hc_child_session *c)
{
    ssize_t n = write(c->in_fd, c->out.data + c->sent, c->out.len - c->sent);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    c->sent +=
        n > 0 ? (size_t)n : c->out.len - c->sent; /* a session that has closed its input is about to end */
    if (c->sent < c->out.len)
        return;
    hc_buf_finish(&c->out);
    c->sent = 0;
}

static void send_line(struct hc_child_session *c, const char *line)
{
    (void)hc_buf_str(&c->out, line);
    (void)hc_buf_str(&c->out, "\n");
    hc_child_write(c);
}

void hc_child_ask(struct hc_mcp *m, struct hc_session_place *s, const char *line)
{
    send_line(child_of(m, s), line);
}

void hc_child_interrupt(struct hc_mcp *m, struct hc_session_place *s)
{
    send_line(child_of(m, s), "{\"interrupt\":true}");
}

/* ---- opening ---- */

static int open_pipes(struct hc_child_session *c, int *their_in, int *their_out, struct hc_error *err)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    *their_in = in[0];
    c->in_fd = in[1];
    if (pipe2(out, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    *their_out = out[1];
    c->out_fd = out[0];
    /* Only the server's ends: the child's have open file descriptions of their own. */
    if (fcntl(c->in_fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(c->out_fd, F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "fcntl");
    return 0;
}

static void free_arguments(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

/* The arguments: the output directory, and "--input=NAME=PATH" for each input. Ends with NULL; freed with
 * free_arguments. NULL: no memory. */
static char **make_arguments(const cJSON *inputs, const char *directory)
{
    size_t n = 0;
    char **list = calloc((size_t)cJSON_GetArraySize(inputs) + 2, sizeof *list);
    const cJSON *input;
    hc_autobuf text = {0};
    if (!list)
        return NULL;
    (void)hc_buf_fmt(&text, "--output=%s", directory);
    list[n] = hc_buf_take(&text);
    cJSON_ArrayForEach(input, inputs)
    {
        if (!list[n])
            break;
        (void)hc_buf_fmt(&text, "--input=%s=%s", input->string, input->valuestring);
        list[++n] = hc_buf_take(&text);
    }
    if (list[n])
        return list;
    free_arguments(list);
    return NULL;
}

int hc_child_open(struct hc_mcp *m, struct hc_session_place *s, const cJSON *inputs, struct hc_error *err)
{
    struct hc_child_session *c = child_of(m, s);
    char directory[PATH_MAX];
    hc_autofd in = -1, out = -1;
    c->lines.max = MAX_LINE;
    if (hc_directory_run_path(&hc_stdio_of(m)->directory, s->name, directory, sizeof directory) < 0 ||
        open_pipes(c, &in, &out, err) < 0)
        return -1;
    char **more = make_arguments(inputs, directory);
    const int fds[] = {in, out, -1, -1};
    int rc = more ? hc_child_start(&c->child, hc_stdio_of(m)->config, "session", (const char *const *)more,
                                   fds, err)
                  : hc_fail(err, ENOMEM, "open a session");
    free_arguments(more);
    if (rc == 0)
        send_line(c, "{\"stream\":true}"); /* its output is sent on as progress of the call */
    return rc;
}

/* ---- answers and the end ---- */

void hc_child_read(struct hc_mcp *m, size_t place)
{
    struct hc_child_session *c = &hc_stdio_of(m)->sessions[place];
    char chunk[65536];
    ssize_t n = read(c->out_fd, chunk, sizeof chunk);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hc_close_fd(&c->out_fd);
        return;
    }
    hc_rpc_feed(&c->lines, chunk, (size_t)n);
    const char *text;
    size_t len;
    for (enum hc_rpc_line got; (got = hc_rpc_next(&c->lines, &text, &len)) != HC_RPC_MORE;)
        if (got == HC_RPC_LINE)
            hc_session_take(m, &m->sessions[place], text, len);
}

bool hc_child_look_session(struct hc_mcp *m, struct hc_session_place *s)
{
    struct hc_child_session *c = child_of(m, s);
    hc_autobuf words = {0};
    hc_child_kill_if_late(&c->child, hc_mono_ms());
    if (c->out_fd >= 0 || !hc_child_ended(&c->child)) /* else all of its answers have been read */
        return false;
    hc_child_messages(&c->child, &words);
    hc_session_gone(m, s, words.failed ? "" : words.data);
    return true;
}

void hc_child_close(struct hc_mcp *m, struct hc_session_place *s, bool now)
{
    struct hc_child_session *c = child_of(m, s);
    if (now) {
        hc_child_end(&c->child);
        return;
    }
    hc_close_fd(&c->in_fd); /* the session ends at the end of its input */
    hc_child_expect(&c->child);
}

void hc_child_clear_session(struct hc_mcp *m, struct hc_session_place *s)
{
    struct hc_child_session *c = child_of(m, s);
    hc_child_finish(&c->child);
    hc_close_fd(&c->in_fd);
    hc_close_fd(&c->out_fd);
    hc_rpc_lines_finish(&c->lines);
    hc_buf_finish(&c->out);
    c->sent = 0;
}
