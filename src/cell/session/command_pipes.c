/* The pipes of a command beside the runs: what it prints, and its standard input. */
#include "cell/session/command_parts.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A pipe; `ours` is the end with this index, and does not block. */
static int open_pipe(int own, int *ours, int *theirs, struct hc_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    *ours = ends[own];
    *theirs = ends[!own];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) < 0 ? hc_fail(err, errno, "pipe") : 0;
}

static void print(void *ctx, int stream, const char *data, size_t len)
{
    struct hc_command *p = ctx;
    struct hc_command_stream *st = &p->out[stream];
    if (st->cut)
        return;
    hc_events_output(&p->events, (enum hc_event_stream)stream, data, len);
    st->cut = !hc_command_tell(p, true);
    if (!st->cut)
        return;
    hc_events_cut(&p->events, stream ? "stderr" : "stdout", 0);
    (void)hc_command_tell(p, false);
}

static int open_stream(struct hc_command *p, int stream, int *theirs, struct hc_error *err)
{
    struct hc_command_stream *st = &p->out[stream];
    const struct hc_limits *limits = &p->policy.limits;
    if (open_pipe(0, &st->fd, theirs, err) < 0)
        return -1;
    st->relay = (struct hc_output_relay){.fd = st->fd,
                                         .pass_fd = -1,
                                         .max = stream ? limits->stderr_bytes : limits->stdout_bytes,
                                         .stream = &st->kept,
                                         .sink = {print, p, stream}};
    return hc_output_filter_new(&st->relay.filter, &p->policy, p->s->launch.sup.redactor, st->relay.max,
                                &st->kept, err);
}

int hc_command_open_pipes(struct hc_command *p, int theirs[4], struct hc_error *err)
{
    return open_pipe(1, &p->in_fd, &theirs[0], err) < 0 || open_stream(p, 0, &theirs[1], err) < 0 ||
                   open_stream(p, 1, &theirs[2], err) < 0 || open_pipe(1, &p->gate, &theirs[3], err) < 0
               ? -1
               : 0;
}

int hc_command_watch_pipes(struct hc_command *p, size_t place, struct hc_error *err)
{
    for (int i = 0; i < 2; i++) {
        if (hc_command_watch(p->s->commands, p->out[i].fd, i ? HC_COMMAND_ERR : HC_COMMAND_OUT, place,
                             EPOLLIN) < 0)
            return hc_fail(err, errno, "watch a command's output");
        p->out[i].watched = true;
    }
    return 0;
}

static void close_stream(struct hc_command *p, struct hc_command_stream *st)
{
    if (st->watched)
        hc_command_unwatch(p->s->commands, st->fd);
    st->watched = false;
    st->relay.fd = -1;
    hc_close_fd(&st->fd);
}

/* The output that its limit left out: the client is told that no more comes, or the command ends. */
static void check_limit(struct hc_command *p, int stream)
{
    struct hc_command_stream *st = &p->out[stream];
    if (!st->kept.truncated)
        return;
    if (p->policy.overflow == HC_OVERFLOW_END)
        hc_command_end(p, HC_STATUS_OUTPUT, "printed more than it may (limits.%s)",
                       stream ? "stderr" : "stdout");
    if (st->cut)
        return;
    st->cut = true;
    hc_events_cut(&p->events, stream ? "stderr" : "stdout", 0);
    (void)hc_command_tell(p, false);
}

void hc_command_read(struct hc_command *p, int stream)
{
    struct hc_command_stream *st = &p->out[stream];
    if (st->fd < 0)
        return;
    hc_output_relay_read(&st->relay);
    hc_buf_clear(&st->kept.text); /* it has been told */
    check_limit(p, stream);
    if (st->relay.fd < 0)
        close_stream(p, st);
}

/* What is in the pipe comes out with one round of reading, as no pipe is larger than that. What is left of
 * the command may go on writing: it gets SIGPIPE. */
void hc_command_drain(struct hc_command *p)
{
    for (int i = 0; i < 2; i++) {
        struct hc_command_stream *st = &p->out[i];
        hc_command_read(p, i);
        if (st->fd < 0)
            continue;
        hc_autofd nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        st->relay.fd = nothing; /* ends the stream for its filter */
        hc_output_relay_read(&st->relay);
        close_stream(p, st);
    }
    hc_events_end(&p->events); /* characters of which only the beginning has come */
    (void)hc_command_tell(p, false);
}

void hc_command_close_pipes(struct hc_command *p)
{
    for (int i = 0; i < 2; i++) {
        close_stream(p, &p->out[i]);
        hc_output_filter_free(p->out[i].relay.filter);
        hc_output_relay_finish(&p->out[i].relay);
        hc_buf_finish(&p->out[i].kept.text);
    }
    hc_close_fd(&p->in_fd); /* epoll forgets it */
    hc_close_fd(&p->gate);
    hc_buf_finish(&p->input);
}

/* ---- standard input ---- */

static size_t place_of(const struct hc_command *p)
{
    size_t i = 0;
    while (i < HC_SESSION_COMMANDS - 1 && p->s->commands->list[i] != p)
        i++;
    return i;
}

static void watch_input(struct hc_command *p, bool wanted)
{
    if (wanted == p->in_watched || p->in_fd < 0)
        return;
    if (wanted)
        (void)hc_command_watch(p->s->commands, p->in_fd, HC_COMMAND_IN, place_of(p), EPOLLOUT);
    else
        hc_command_unwatch(p->s->commands, p->in_fd);
    p->in_watched = wanted;
}

static void end_input(struct hc_command *p)
{
    watch_input(p, false);
    hc_close_fd(&p->in_fd);
    hc_buf_finish(&p->input);
}

void hc_command_write(struct hc_command *p)
{
    size_t done = 0;
    while (p->in_fd >= 0 && done < p->input.len) {
        ssize_t n = TEMP_FAILURE_RETRY(write(p->in_fd, p->input.data + done, p->input.len - done));
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* it reads no more */
            end_input(p);
            return;
        }
        done += (size_t)n;
    }
    if (done)
        memmove(p->input.data, p->input.data + done, p->input.len - done);
    p->input.len -= done;
    watch_input(p, p->input.len > 0);
    if (!p->input.len && p->input_ends)
        end_input(p);
}

int hc_session_command_input(struct hc_session *s, const char *id, const char *data, size_t len, bool end,
                             struct hc_error *err)
{
    struct hc_command *p = hc_command_find(s, id, err);
    if (!p)
        return -1;
    if (p->in_fd < 0 || p->input_ends)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "command %s: its standard input has ended", id);
    if (p->input.len + len > HC_COMMAND_INPUT)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "command %s: it has not read its earlier input", id);
    if (len && hc_buf_add(&p->input, data, len) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, ENOMEM, "command %s: input", id);
    p->input_ends = end;
    hc_command_write(p);
    return 0;
}
