/* The server's loop. */
#include "mcp/child/stdio.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define MAX_MESSAGE  ((size_t)16 << 20) /* most bytes of a message */
#define MAX_BACKLOG  ((size_t)1 << 20)  /* most bytes of unread answers; above, no request is read */
#define LAST_WORDS   2000               /* ms that a client has to read the last answers */
#define HEARTBEAT_MS 1000 /* longest wait for events in ms while a program runs or a session ends */

/* Write at most PIPE_BUF bytes, which a writable pipe or socket takes without blocking. O_NONBLOCK would
 * change the terminal for other processes, too. */
static void write_some(struct hc_stdio *m)
{
    size_t left = m->out.len - m->sent, piece = left < PIPE_BUF ? left : PIPE_BUF;
    ssize_t n = write(STDOUT_FILENO, m->out.data + m->sent, piece);
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
        m->gone = true;
        m->lost = errno == EPIPE ? 0 : errno;
        n = (ssize_t)left;
    }
    m->sent += n > 0 ? (size_t)n : 0;
    if (m->sent >= m->out.len) {
        hc_buf_finish(&m->out);
        m->sent = 0;
    }
}

static void handle_line(struct hc_mcp *m, const char *text, size_t len)
{
    struct hc_rpc message;
    struct hc_error err = {0};
    int code;
    if (hc_rpc_parse(&message, text, len, &code, &err) < 0)
        hc_mcp_error(m, message.id, code, "%s", err.text);
    else
        hc_mcp_handle(m, &message);
    hc_rpc_finish(&message);
}

/* Handle lines that were read already, as long as the client reads the answers. */
static void handle_lines(struct hc_stdio *s)
{
    const char *text;
    size_t len;
    while (s->out.len - s->sent < MAX_BACKLOG) {
        switch (hc_rpc_next(&s->lines, &text, &len)) {
        case HC_RPC_LINE:
            handle_line(&s->m, text, len);
            break;
        case HC_RPC_LONG:
            hc_mcp_error(&s->m, "null", HC_RPC_INVALID_REQUEST,
                         "a message may have %zu bytes; this one was dropped", MAX_MESSAGE);
            break;
        case HC_RPC_NO_MEMORY:
            hc_mcp_error(&s->m, "null", HC_RPC_INTERNAL, "out of memory; a message was dropped");
            break;
        default:
            return;
        }
    }
}

static void read_some(struct hc_stdio *m)
{
    char chunk[65536];
    ssize_t n = read(STDIN_FILENO, chunk, sizeof chunk);
    if (n > 0)
        hc_rpc_feed(&m->lines, chunk, (size_t)n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        m->gone = true;
}

/* Add two entries per session: its answers, or its end after the last answer; and its requests. */
static nfds_t add_sessions(const struct hc_stdio *m, struct pollfd *fds)
{
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++, fds += 2) {
        const struct hc_child_session *s = &m->sessions[i];
        bool used = m->m.sessions[i].name[0] != '\0';
        fds[0] = (struct pollfd){.fd = !used            ? -1
                                       : s->out_fd >= 0 ? s->out_fd
                                                        : s->child.pidfd,
                                 .events = POLLIN};
        fds[1] = (struct pollfd){.fd = used && s->out.len ? s->in_fd : -1, .events = POLLOUT};
    }
    return HC_MCP_SESSIONS * 2;
}

static void serve_sessions(struct hc_stdio *m, const struct pollfd *fds)
{
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++, fds += 2) {
        if (fds[0].revents && m->sessions[i].out_fd >= 0)
            hc_child_read(&m->m, i);
        if (fds[1].revents)
            hc_child_write(&m->sessions[i]);
    }
}

/* Wait for events, and do input and output. True: a signal ends the server. */
static bool wait_for_more(struct hc_stdio *m)
{
    struct pollfd fds[3 + HC_MCP_SESSIONS * 2 + HC_MCP_PLACES];
    nfds_t count = 3 + add_sessions(m, fds + 3);
    bool busy = false, full = m->out.len - m->sent >= MAX_BACKLOG;
    fds[0] = (struct pollfd){.fd = full ? -1 : STDIN_FILENO, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = m->out.len ? STDOUT_FILENO : -1, .events = POLLOUT};
    fds[2] = (struct pollfd){.fd = m->config->cancel_fd, .events = POLLIN};
    for (size_t i = 0; i < HC_MCP_PLACES; i++) {
        if (m->m.programs[i].run[0])
            fds[count++] = (struct pollfd){.fd = m->programs[i].child.pidfd, .events = POLLIN};
        busy |= m->m.programs[i].run[0] != 0;
    }
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++)
        busy |= m->sessions[i].child.kill_ms != 0 || m->m.sessions[i].progress.token[0];
    if (poll(fds, count, busy ? HEARTBEAT_MS : -1) < 0)
        return false;
    if (fds[2].revents)
        return true;
    serve_sessions(m, fds + 3);
    if (fds[1].revents)
        write_some(m);
    if (fds[0].revents)
        read_some(m);
    return false;
}

/* A client that has closed its output may still read answers: give it LAST_WORDS ms. */
static void flush_answers(struct hc_stdio *m)
{
    int64_t end = hc_mono_ms() + LAST_WORDS, left;
    while (m->out.len && (left = end - hc_mono_ms()) > 0) {
        struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
        if (poll(&fd, 1, (int)left) > 0)
            write_some(m);
    }
}

static void finish(struct hc_stdio *s)
{
    hc_programs_end(&s->m);
    hc_sessions_end(&s->m);
    hc_directory_close(&s->directory);
    hc_rpc_lines_finish(&s->lines);
    hc_buf_finish(&s->out);
}

/* ---- what the server asks of its host ---- */

static int send_line(struct hc_mcp *m, const char *id, bool answer, const char *text, size_t len)
{
    struct hc_stdio *s = hc_stdio_of(m);
    (void)id;
    (void)answer;
    if (hc_buf_add(&s->out, text, len) == 0 && hc_buf_add(&s->out, "\n", 1) == 0)
        return 0;
    s->out.failed = false;
    return -1;
}

static void drop_request(struct hc_mcp *m, const char *id)
{
    (void)m;
    (void)id;
}

static bool is_full(const struct hc_mcp *m, const char *id)
{
    (void)id;
    return hc_owner(m, const struct hc_stdio, m)->out.len > 0;
}

static cJSON *name_input(const struct hc_stdio *s, const char *run, const char *name, struct hc_error *err)
{
    char path[PATH_MAX];
    cJSON *input = hc_directory_input_path(&s->directory, run, name, path, sizeof path) == 0
                       ? cJSON_CreateString(path)
                       : NULL;
    if (!input)
        (void)hc_fail(err, ENAMETOOLONG, "%s", name);
    return input;
}

static cJSON *give(struct hc_mcp *m, const char *run, const char *name, const struct hc_buf *bytes,
                   struct hc_error *err)
{
    struct hc_stdio *s = hc_stdio_of(m);
    return hc_directory_add_input(&s->directory, run, name, bytes->data ? bytes->data : "", bytes->len, err) <
                   0
               ? NULL
               : name_input(s, run, name, err);
}

static cJSON *give_stored(struct hc_mcp *m, const char *run, const char *name, const struct hc_stored *file,
                          struct hc_error *err)
{
    struct hc_stdio *s = hc_stdio_of(m);
    return hc_directory_add_stored_input(&s->directory, run, file, name, err) < 0
               ? NULL
               : name_input(s, run, name, err);
}

static void forget(struct hc_mcp *m, const char *run)
{
    hc_directory_remove_inputs(&hc_stdio_of(m)->directory, run);
}

static const struct hc_mcp_host host = {
    .send = send_line,
    .drop = drop_request,
    .is_full = is_full,
    .give = give,
    .give_stored = give_stored,
    .forget = forget,
    .start = hc_child_start_program,
    .look = hc_child_look,
    .stop = hc_child_stop,
    .clear = hc_child_clear,
    .open = hc_child_open,
    .look_session = hc_child_look_session,
    .ask = hc_child_ask,
    .interrupt = hc_child_interrupt,
    .close = hc_child_close,
    .clear_session = hc_child_clear_session,
};

int hc_mcp_serve(const struct hc_mcp_config *config, struct hc_error *err)
{
    static struct hc_stdio s;
    s = (struct hc_stdio){.m = {.host = &host,
                                .jobs = config->jobs,
                                .timeout_ms = config->timeout_ms,
                                .commands = config->commands,
                                .card = config->card,
                                .session_card = config->session_card,
                                .store = &s.directory.store},
                          .config = config,
                          .lines.max = MAX_MESSAGE};
    bool stopped = false;
    hc_child_places_init(&s);
    int rc = hc_directory_open(&s.directory, config->output_dir, config->store_bytes, err);
    while (rc == 0 && !stopped && !s.gone) {
        stopped = wait_for_more(&s);
        hc_programs_tend(&s.m);
        hc_sessions_tend(&s.m);
        if (!stopped)
            handle_lines(&s);
    }
    if (rc == 0 && !stopped)
        flush_answers(&s);
    if (rc == 0 && s.lost)
        rc = hc_fail(err, s.lost, "answer on standard output");
    finish(&s);
    return rc;
}
