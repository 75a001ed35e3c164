/* output_pipe.h - the cell's two output streams in the supervisor's loop: each has a relay, whose
 * descriptors epoll watches when the relay waits for them. */
#ifndef HC_CELL_SUPERVISE_OUTPUT_PIPE_H
#define HC_CELL_SUPERVISE_OUTPUT_PIPE_H

#include "cell/supervise/loop.h"

/* `fd`: read end of the pipe; `pass_fd`: where output is passed on, or -1; both borrowed. `max`: bytes
 * kept in `kept`. */
struct hc_output_pipe hc_output_pipe_new(int fd, int pass_fd, int64_t max, struct hc_stream *kept,
                                         enum hc_occasion on, enum hc_occasion on_pass);

/* To be called after each change of the relay: watch the descriptors that it waits for now, and end the
 * job if reading failed or output.overflow says so. */
void hc_output_pipe_sync(struct hc_loop *l, struct hc_output_pipe *st);

/* To be called when the pipe is readable; when pass_fd is writable. */
void hc_output_pipe_read(struct hc_loop *l, struct hc_output_pipe *st);
void hc_output_pipe_write(struct hc_loop *l, struct hc_output_pipe *st);

/* Whether the stream has ended and all of it is passed on. */
bool hc_output_pipe_ended(const struct hc_output_pipe *st);

void hc_output_pipe_finish(struct hc_output_pipe *st);

#endif
