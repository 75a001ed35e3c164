/* tool_command.h - one command of the host, run for a call of a tool, and ended without trace.
 *
 * Processes: the launcher forks a keeper, the keeper forks and executes the command. The keeper leads a
 * session of its own, adopts whatever the command leaves behind (PR_SET_CHILD_SUBREAPER), and kills all of it
 * when the command has ended or the launcher hangs up, be it that it was killed. Rights: the caller's.
 * Channels: the command has three pipes and no other descriptor; between keeper and launcher is a socket, on
 * which the command's end is told, and whose hang-up is the order to end. Nothing here blocks but
 * hc_command_finish with patience. */
#ifndef HC_CELL_TOOLS_TOOL_COMMAND_H
#define HC_CELL_TOOLS_TOOL_COMMAND_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

#define HC_COMMAND_ERRORS 4096 /* bytes that are kept of what it says on standard error */

/* How the command ended, as the keeper tells it. */
struct hc_command_end {
    int32_t code;   /* CLD_EXITED, CLD_KILLED, CLD_DUMPED; 0: it was not executed */
    int32_t status; /* exit status, signal or errno */
};

struct hc_command {
    int in, out, err; /* our ends, non-blocking; -1: closed */
    int keeper;       /* socket */
    int pidfd;        /* of the keeper: readable when nobody is left */
    pid_t pid;        /* the keeper, our child; 0: none */
    struct hc_buf input, output, errors;
    size_t written; /* of the input */
    bool too_long;  /* there was more output than it may have */
    bool ended;
    struct hc_command_end end; /* if it has ended */
};

/* Execute `words` (the first is a path) with `text` on its standard input; of its output at most `max` bytes
 * are kept. On -1 nothing is left. */
int hc_command_start(struct hc_command *c, char *const *words, const char *text, size_t len, size_t max,
                     struct hc_error *err);

/* What can be done without waiting: write input, read output; with `pidfd` readable, hear how it ended. */
void hc_command_write(struct hc_command *c);
void hc_command_read(struct hc_command *c);
void hc_command_hear_end(struct hc_command *c);

/* Order the end of all of it. */
void hc_command_kill(struct hc_command *c);

/* The same, and wait until nobody is left, but no longer than that: a process that the kernel holds (on a
 * file system that does not answer) is left to its keeper. Fine on a zeroed one. */
void hc_command_finish(struct hc_command *c, int patience_ms);

#endif
