/* starter.h - the conversation of the launcher with the starter: the process of a session's cell that starts
 * commands beside the runs, over a SOCK_SEQPACKET pair of its own.
 *
 * The starter is a copy of the interpreter from before the first program, and executes no code of a guest. It
 * says READY once. For each START it makes a process, which says STARTED, and whose sender the kernel names;
 * this process becomes the command when the launcher has written one byte into the gate. FAILED in the place
 * of STARTED: there could be no process. */
#ifndef HC_WIRE_STARTER_H
#define HC_WIRE_STARTER_H

#include <stdint.h>

enum hc_starter_word { HC_STARTER_READY = 1, HC_STARTER_START, HC_STARTER_STARTED, HC_STARTER_FAILED };

struct hc_starter_packet {
    uint32_t word;   /* enum hc_starter_word */
    uint32_t number; /* number of the command, which its answer repeats */
    int32_t error;   /* HC_STARTER_FAILED: the errno; else 0 */
};

/* The descriptors that come with START, in this order. */
enum hc_starter_fd {
    HC_STARTER_ORDER, /* sealed memfd: the command as a handover without filters */
    HC_STARTER_STDIN, /* the command's ends of its pipes, and for its standard error the next */
    HC_STARTER_STDOUT,
    HC_STARTER_STDERR,
    HC_STARTER_GATE, /* pipe: a byte lets the command begin, its end of file does not */
    HC_STARTER_FDS
};

#endif
