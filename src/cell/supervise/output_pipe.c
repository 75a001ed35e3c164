#include "cell/supervise/output_pipe.h"

#include <errno.h>
#include <sys/epoll.h>

/* Begin or stop to watch a descriptor, as `wanted` says. False if it cannot be polled. */
static bool sync_watch(struct hc_loop *l, int *watched, int fd, bool wanted, enum hc_occasion on,
                       uint32_t events)
{
    struct hc_error ignored;
    if (!wanted && *watched >= 0) {
        hc_loop_unwatch(l, *watched);
        *watched = -1;
    }
    if (wanted && *watched < 0) {
        if (hc_loop_watch(l, fd, on, events, &ignored) < 0)
            return false;
        *watched = fd;
    }
    return true;
}

void hc_output_pipe_sync(struct hc_loop *l, struct hc_output_pipe *st)
{
    struct hc_output_relay *r = &st->relay;
    if (!sync_watch(l, &st->write_fd, r->pass_fd, hc_output_relay_wants_write(r), st->on_pass, EPOLLOUT))
        hc_output_relay_drop(r);
    if (!sync_watch(l, &st->read_fd, r->fd, hc_output_relay_wants_read(r), st->on, EPOLLIN))
        hc_loop_fail(l->s, errno, "watch the program's output");
    if (r->read_errno)
        hc_loop_fail(l->s, r->read_errno, "read the program's output");
    if (r->stream->truncated && l->s->policy->overflow == HC_OVERFLOW_END)
        hc_loop_end(l->s, HC_END_OUTPUT);
}

void hc_output_pipe_read(struct hc_loop *l, struct hc_output_pipe *st)
{
    hc_output_relay_read(&st->relay);
    hc_output_pipe_sync(l, st);
}

void hc_output_pipe_write(struct hc_loop *l, struct hc_output_pipe *st)
{
    hc_output_relay_write(&st->relay);
    if (st->relay.orphaned)
        hc_output_relay_read(&st->relay);
    hc_output_pipe_sync(l, st);
}

struct hc_output_pipe hc_output_pipe_new(int fd, int pass_fd, int64_t max, struct hc_stream *kept,
                                         enum hc_occasion on, enum hc_occasion on_pass)
{
    return (struct hc_output_pipe){.relay = {.fd = fd, .pass_fd = pass_fd, .max = max, .stream = kept},
                                   .on = on,
                                   .on_pass = on_pass,
                                   .read_fd = -1,
                                   .write_fd = -1};
}

void hc_output_pipe_finish(struct hc_output_pipe *st)
{
    hc_output_filter_free(st->relay.filter);
    hc_output_relay_finish(&st->relay);
}

bool hc_output_pipe_ended(const struct hc_output_pipe *st)
{
    return st->read_fd < 0 && st->write_fd < 0;
}
