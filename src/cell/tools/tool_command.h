/* tool_command.h - one command of the host, run for a call of a tool, and ended without trace.
 *
 * Processes: the launcher forks a keeper, the keeper forks and executes the command. The keeper leads a
 * session of its own, adopts processes that the command leaves behind (PR_SET_CHILD_SUBREAPER), and kills
 * them all when the command has ended or the launcher closes the socket, as it does when it is killed.
 * Rights: the caller's. Channels: the command has three pipes and no other descriptor; between keeper and
 * launcher is a socket, on which the keeper reports the command's end, and whose closing orders it to end.
 * Only hc_tool_command_finish with patience_ms > 0 blocks. */
#ifndef HC_CELL_TOOLS_TOOL_COMMAND_H
#define HC_CELL_TOOLS_TOOL_COMMAND_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

#define HC_COMMAND_ERRORS 4096 /* bytes of the command's standard error that are kept */

/* How the command ended, as the keeper reports it. */
struct hc_tool_command_end {
    int32_t code;   /* CLD_EXITED, CLD_KILLED, CLD_DUMPED; 0: it was not executed */
    int32_t status; /* exit status, signal or errno */
};

struct hc_tool_command {
    int in, out, err; /* the launcher's ends of the pipes, non-blocking, owned; -1: closed */
    int keeper;       /* socket to the keeper, owned; -1: closed */
    int pidfd;        /* pidfd of the keeper, owned: readable when no process of the command is left */
    pid_t pid;        /* the keeper, our child; 0: none */
    struct hc_buf input, output, errors; /* for, and from, the pipes; owned */
    size_t written;                      /* bytes of `input` written */
    bool too_long;                       /* there was more output than `max` */
    bool ended;                          /* `end` is filled */
    struct hc_tool_command_end end;      /* how the command ended */
};

/* Execute `words` (the first is a path) with `text` on standard input; at most `max` bytes of its output
 * are kept. On -1 no process is left, and `c` is empty. */
int hc_tool_command_start(struct hc_tool_command *c, char *const *words, const char *text, size_t len,
                          size_t max, struct hc_error *err);

/* Work without waiting: write input; read output; when `pidfd` is readable, read how the command ended. */
void hc_tool_command_write(struct hc_tool_command *c);
void hc_tool_command_read(struct hc_tool_command *c);
void hc_tool_command_hear_end(struct hc_tool_command *c);

/* Order the keeper to kill the command with all of its processes. */
void hc_tool_command_kill(struct hc_tool_command *c);

/* Order the keeper to kill the command, and free `c`. Waits at most `patience_ms` until no process is left:
 * one that the kernel holds (on a file system that does not answer) is left to its keeper. Does nothing on a
 * zeroed struct. */
void hc_tool_command_finish(struct hc_tool_command *c, int patience_ms);

#endif
