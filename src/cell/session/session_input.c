/* The standard input of a session's run: what its request has, or what its client says when the program asks.
 */
#include "cell/session/session_parts.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int hc_session_begin_input(struct hc_session *s, const struct hc_job *job, struct hc_error *err)
{
    int ends[2];
    if (!job->interactive)
        return job->has_stdin ? hc_feed_start(&s->launch.feed, job, 0, err) : 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    s->launch.feed.fd = ends[0];
    s->input_fd = ends[1];
    s->launch.sup.input_requested = s->given.input_requested;
    s->launch.sup.input_ctx = s->given.ctx;
    return fcntl(s->input_fd, F_SETFL, O_NONBLOCK) < 0 ? hc_fail(err, errno, "standard input") : 0;
}

void hc_session_end_input(struct hc_session *s)
{
    hc_close_fd(&s->input_fd);
    s->launch.sup.input_requested = NULL;
}

bool hc_session_input(struct hc_session *s, const char *text)
{
    const size_t len = text ? strlen(text) : 0;
    int unread = 0;
    if (s->input_fd < 0)
        return false;
    (void)ioctl(s->input_fd, FIONREAD, &unread);
    if (!text || (size_t)unread + len > HC_SESSION_INPUT) {
        hc_close_fd(&s->input_fd);
        return true;
    }
    for (size_t done = 0; done < len;) {
        ssize_t n = TEMP_FAILURE_RETRY(write(s->input_fd, text + done, len - done));
        if (n < 0) { /* the program reads no more, or the pipe is full of small pieces */
            hc_close_fd(&s->input_fd);
            return true;
        }
        done += (size_t)n;
    }
    return true;
}
