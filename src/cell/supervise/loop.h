/* loop.h - private to the supervisor (supervise.c) and its parts output_pipe.c, control.c, enforce.c: the
 * loop's state, its events, and how it ends a job. */
#ifndef HC_CELL_SUPERVISE_LOOP_H
#define HC_CELL_SUPERVISE_LOOP_H

#include "cell/supervise/output_relay.h"
#include "cell/supervise/supervise.h"

/* Milliseconds between samples where no cgroup enforces the limits; less where memory is short. */
#define HC_WATCH_MS 20

/* Why epoll wakes the loop. */
enum hc_occasion {
    HC_ON_PIDFD,    /* the cell's first process has ended */
    HC_ON_STDOUT,   /* the program's standard output is readable */
    HC_ON_STDERR,   /* its standard error is readable */
    HC_ON_CONTROL,  /* a packet has come on the control channel, or it takes answers of tools */
    HC_ON_STATUS,   /* pid 1 has reported, or has gone */
    HC_ON_WALL,     /* the time limit is over */
    HC_ON_GRACE,    /* the program's time is nearly over */
    HC_ON_SOFT,     /* memory.events has changed */
    HC_ON_WATCH,    /* the next sample is due */
    HC_ON_CANCEL,   /* cancel_fd is readable */
    HC_ON_REFUSED,  /* the kernel asks about a refused call, or no process is left to ask for */
    HC_ON_PACE,     /* the next slow answers to refused calls are due */
    HC_ON_PASS_OUT, /* pass_stdout takes more */
    HC_ON_PASS_ERR, /* pass_stderr takes more */
    HC_ON_TOOLS,    /* the toolbox has work */
    HC_ON_BESIDE,   /* s->beside has work */
    HC_ON_WAKE      /* a session's wake_fd is readable */
};

/* A relay, and its descriptors that epoll watches. */
struct hc_output_pipe {
    struct hc_output_relay relay; /* relay of one output stream; owned */
    enum hc_occasion on, on_pass; /* occasion that read_fd causes; that write_fd causes */
    int read_fd, write_fd;        /* descriptors that epoll watches now; -1: none */
};

struct hc_loop {
    struct hc_supervisor *s;        /* the supervised cell; borrowed */
    int epoll;                      /* epoll descriptor of the loop; owned */
    struct hc_output_pipe out, err; /* standard output; standard error */
    /* The control channel is not at its end; the status socket is not at its end; the cell has ended. */
    bool control_open, status_open, dead;
    int interpreter;    /* pidfd of the process that said READY, owned; -1: not yet */
    int memory_events;  /* descriptor of memory.events, owned, while memory.high is set; else -1 */
    bool last_mark;     /* l->memory_events watches the mark at which a session's run is ended */
    bool warned_memory; /* the program was sent the warning about its memory, which comes once */
    int64_t watch_ms;   /* interval of the ticker, in ms */
    int answer_timer; /* timer for slow answers to refused calls, owned; -1: they are answered as they come */
    int64_t frames;   /* packets received so far, in a session in this run */
    bool answering;   /* answers of tools wait for the cell to read */
    bool woken; /* a session's wake_fd was readable: the session calls its owner's `woken`, and clears this */
};

/* Add, change and remove a descriptor in the loop's epoll; `fd` stays the caller's. */
int hc_loop_watch(struct hc_loop *l, int fd, enum hc_occasion on, uint32_t events, struct hc_error *err);
void hc_loop_rewatch(struct hc_loop *l, int fd, enum hc_occasion on, uint32_t events);
void hc_loop_unwatch(struct hc_loop *l, int fd);

/* Make a timer whose descriptor the caller owns, or return -1; set the time of one (-1 with errno); clear one
 * that has fired. It fires after first_ms milliseconds and then every every_ms; every_ms 0: it fires once. */
int hc_loop_timer(int64_t first_ms, int64_t every_ms, struct hc_error *err);
int hc_loop_set_timer(int fd, int64_t first_ms, int64_t every_ms);
void hc_loop_drain_timer(int fd);

/* The timers of a job, owned; -1: not needed. */
struct hc_timers {
    /* Fires at the end of limits.timeout; limits.grace before that; at each sample. */
    int wall, grace, ticker;
};
int hc_timers_start(struct hc_timers *out, struct hc_loop *l, struct hc_error *err);
void hc_timers_finish(struct hc_timers *t);

/* Wait for what happens next, and handle it. */
int hc_loop_turn(struct hc_loop *l, const struct hc_timers *timers, struct hc_error *err);

/* Without a cgroup: sample the cell's memory, CPU time and tasks into `s`. Returns its memory in bytes. */
int64_t hc_loop_sample(struct hc_supervisor *s);

/* The same between runs, when the cell's processes wait: without a look at what the kernel holds for them
 * (held.h), which takes longer than all else of a sample; the estimate of the last look counts. */
void hc_loop_account(struct hc_supervisor *s);

/* The same, of the CPU time alone: of the process that runs the program, where it can start no other. */
void hc_loop_cpu(struct hc_supervisor *s);

/* Kill the cell, or in a session the run's process; the loop reaps it when it has ended. */
void hc_loop_kill(struct hc_supervisor *s);

/* Do what hc_loop_kill does, and record the reason `end`; only the first reason counts. */
void hc_loop_end(struct hc_supervisor *s, enum hc_end end);

/* End the job because the launcher failed at `what` with the errno `sys`. */
void hc_loop_fail(struct hc_supervisor *s, int sys, const char *what);

#endif
