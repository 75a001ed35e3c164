/* command_parts.h - private to commands.c and its parts command_pipes.c, command_processes.c. */
#ifndef HC_CELL_SESSION_COMMAND_PARTS_H
#define HC_CELL_SESSION_COMMAND_PARTS_H

#include "cell/session/session_parts.h"
#include "cell/supervise/output_relay.h"
#include "wire/events.h"

#define HC_COMMAND_START_MS 10000 /* ms that the starter has to make a command */

/* One of a command's output streams. */
struct hc_command_stream {
    int fd;                       /* our end of the pipe; owned; -1: closed */
    struct hc_stream kept;        /* counts of the stream; its text is dropped as it is told; owned */
    struct hc_output_relay relay; /* reads, redacts and shortens the stream */
    bool watched, cut;            /* epoll watches `fd`; no more events of the stream are told */
};

struct hc_command {
    struct hc_session *s; /* its session; borrowed */
    char id[HC_COMMAND_ID];
    char *argv;                  /* its arguments, as JSON; owned */
    uint32_t number;             /* number by which the starter answers */
    struct hc_policy policy;     /* its limits; members borrowed from the session's */
    int64_t timeout_ms, cpu_ms;  /* its own limits of time and CPU time; 0: none */
    struct hc_process process;   /* pid 0: the starter has not made it yet */
    int gate;                    /* lets it begin; owned; -1: it has begun */
    int in_fd;                   /* our end of its standard input; owned; -1: closed */
    struct hc_buf input;         /* input that its pipe has not taken; owned */
    bool input_ends, in_watched; /* close in_fd behind `input`; epoll waits for room in in_fd */
    struct hc_command_stream out[2];
    struct hc_events events;    /* makes lines of its events; owned */
    int64_t asked_us, began_us; /* when it was asked for; when it began (CLOCK_MONOTONIC) */
    int64_t kill_us;            /* when it is killed; 0: no time was set */
    int64_t gone_us;            /* when its end was seen without a report of it; 0: it was not */
    enum hc_status status;      /* why the launcher ended it; HC_STATUS_OK: it has not */
    char reason[120];           /* the same as a sentence; "": none */
    int64_t user_us, system_us; /* CPU time of its processes at the last sample */
    int64_t oom_kills;          /* the cgroup's count when it began */
    bool failed, exited;        /* it could not be made; `end` is filled */
    bool out_of_memory;         /* it could not be made as there was no memory for its process */
    struct hc_exit_report end;  /* how its first process ended, as pid 1 says */
};

struct hc_commands {
    struct hc_beside beside;   /* the supervisor's view; its epoll is owned */
    int fd, theirs;            /* the starter's socket; its end of it until it has it; owned; -1: closed */
    int ticker;                /* timer, owned */
    struct hc_process starter; /* the starter; pid 0: it has not said READY, or has gone */
    bool had_starter;          /* it has said READY */
    bool late;                 /* the starter has not answered in time */
    uint32_t numbers;          /* number of commands so far */
    struct hc_command *list[HC_SESSION_COMMANDS]; /* NULL: a free place; owned */
    int64_t ended_user_us, ended_system_us;       /* CPU time of the commands that have ended */
    int64_t reaped_user_us, reaped_system_us;     /* CPU time of all processes that pid 1 has waited for */
    int64_t memory;                               /* the cell's at the last sample between runs */
    bool sweep;                                   /* a command has ended: what it left is to be killed */
    bool beside_run;                              /* a command went on during the current run, or the last */
};

/* What an event of hc_commands' epoll is about. */
enum hc_command_occasion {
    HC_COMMAND_STARTER,
    HC_COMMAND_TICK,
    HC_COMMAND_OUT,
    HC_COMMAND_ERR,
    HC_COMMAND_IN
};

/* Begin and stop to watch a descriptor; `place`: the command's in the list. */
int hc_command_watch(struct hc_commands *c, int fd, enum hc_command_occasion on, size_t place,
                     uint32_t events);
void hc_command_unwatch(struct hc_commands *c, int fd);

/* Find a command that goes on. NULL: there is none, and `err` says so. */
struct hc_command *hc_command_find(const struct hc_session *s, const char *id, struct hc_error *err);

/* Tell the owner of the waiting lines of p->events. False: they were dropped, which `may_drop` allows. */
bool hc_command_tell(struct hc_command *p, bool may_drop);

void hc_commands_hear(struct hc_session *s); /* handle what the starter has said */

/* ---- command_pipes.c ---- */
/* Make the command's pipes; `theirs` gets its ends, in the order of enum hc_starter_fd from HC_STARTER_STDIN
 * on, with the gate's; owned by the caller. */
int hc_command_open_pipes(struct hc_command *p, int theirs[4], struct hc_error *err);
int hc_command_watch_pipes(struct hc_command *p, size_t place, struct hc_error *err);
void hc_command_read(struct hc_command *p, int stream); /* read what it has printed */
void hc_command_write(struct hc_command *p);            /* write input that waits */
void hc_command_drain(struct hc_command *p);            /* it has ended: read the rest, and close */
void hc_command_close_pipes(struct hc_command *p);

/* ---- command_processes.c ---- */
void hc_command_kill(struct hc_command *p);                     /* kill all of its processes */
void hc_command_signal(const struct hc_command *p, int number); /* to its process group */
void hc_command_sample(struct hc_command *p);                   /* sample its CPU time */
/* End the command, as the launcher decides: for a client, or for a limit. */
void hc_command_end(struct hc_command *p, enum hc_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Check the limits of all commands, and between runs the cell's memory and CPU time. */
void hc_commands_tick(struct hc_session *s);
bool hc_commands_larger(void *session); /* struct hc_beside.larger */
bool hc_commands_yield(void *session);  /* struct hc_beside.yield */

#endif
