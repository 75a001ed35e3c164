/* output_pipe.h - the cell's two output streams in the supervisor's loop: a relay each, watched as it asks
 * for. */
#ifndef HC_CELL_SUPERVISE_OUTPUT_PIPE_H
#define HC_CELL_SUPERVISE_OUTPUT_PIPE_H

#include "cell/supervise/loop.h"

struct hc_output_pipe hc_output_pipe_new(int fd, int pass_fd, int64_t max, struct hc_stream *kept,
                                         enum hc_occasion on, enum hc_occasion on_pass);

/* After whatever has changed its relay: watch what that waits for now, and end the job if the stream is a
 * reason to. */
void hc_output_pipe_sync(struct hc_loop *l, struct hc_output_pipe *st);

/* There is something to read; the reader behind us can take more. */
void hc_output_pipe_read(struct hc_loop *l, struct hc_output_pipe *st);
void hc_output_pipe_write(struct hc_loop *l, struct hc_output_pipe *st);

/* Is nothing left to wait for? */
bool hc_output_pipe_ended(const struct hc_output_pipe *st);

void hc_output_pipe_finish(struct hc_output_pipe *st);

#endif
