/* wire.h - the interpreter's end of the conversation with the launcher (wire/frame.h). */
#ifndef HC_SHIM_HARNESS_WIRE_H
#define HC_SHIM_HARNESS_WIRE_H

#include "wire/frame.h"
#include "wire/handover.h"

/* Sends one message over the socket `fd`, in as many packets as it needs. -1: a packet could not be sent. */
int hc_wire_send(int fd, enum hc_frame_type type, const void *data, size_t len, struct hc_error *err);

/* Sends a message without content over `fd`, and with it the descriptor `passed` (borrowed; -1: none). The
 * message goes without the descriptor if the user's processes have more of them on their way than the kernel
 * allows. */
int hc_wire_pass(int fd, enum hc_frame_type type, int passed, struct hc_error *err);

/* Blocks until the launcher sends a packet. True: it was HC_FRAME_PREPARE, and was read; false: it was
 * another packet, and was not read. */
bool hc_wire_await_prepare(int fd);

/* Blocks until the launcher sends HC_FRAME_JOB. Returns the descriptor of the handover that came with it,
 * owned by the caller, or -1. *input gets the descriptor of the program's standard input, owned by the
 * caller; -1: none came. */
int hc_wire_await_job(int fd, int *input, struct hc_error *err);

/* Blocks until the launcher sends HC_FRAME_GO. hc_wire_await_first_go: *starter gets the socket of the
 * starter (shim/starter.h) that came with it, owned by the caller; -1: none came. */
int hc_wire_await_go(int fd, struct hc_error *err);
int hc_wire_await_first_go(int fd, int *starter, struct hc_error *err);

/* Blocks until the launcher has closed its end. */
void hc_wire_await_end(int fd);

/* Drops the packets that the launcher has sent so far, which were for a process that has ended since. */
void hc_wire_drop(int fd);

/* Waits for HC_FRAME_NEXT as hc_wire_await_job does for HC_FRAME_JOB. */
int hc_wire_await_next(int fd, int *input, struct hc_error *err);

#endif
