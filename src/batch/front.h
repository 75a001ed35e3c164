/* front.h - private to the front: what its parts share. */
#ifndef HC_BATCH_FRONT_H
#define HC_BATCH_FRONT_H

#include "batch/reader.h"
#include "batch/resume.h"
#include "batch/worker.h"

#define HC_BATCH_WINDOW 16384 /* lines that --ordered lets end before an earlier one */

/* A line that is to be run, or runs. */
struct hc_claim {
    struct hc_task task;
    int fd;        /* its text; owned */
    uint64_t sync; /* it may start when so much is on disk */
};

struct hc_hand {
    pid_t pid; /* 0: none */
    int fd;    /* owned */
    bool idle, busy, served;
    struct hc_claim claim; /* if busy */
};

/* With --ordered: what has ended and waits for its turn. */
struct hc_order {
    int64_t next; /* index of the next result */
    struct {
        int64_t at;
        size_t len;
        bool set; /* length 0: there is no result */
    } * ring;     /* by index, HC_BATCH_WINDOW of them; owned */
};

struct hc_front {
    struct hc_batch *batch;
    const struct hc_batch_options *asked;
    struct hc_folder folder;
    struct hc_reader reader;
    struct hc_past past;
    struct hc_job_ids seen;
    struct hc_tally tally;
    struct hc_order order;
    int input, cancel_event; /* owned */
    const char *name;        /* of the jobs, for messages */
    int64_t input_bytes;     /* -1: unknown */
    struct hc_hand *hands;
    size_t hand_count;
    struct hc_claim
        *claims; /* first come, first served; room for one per hand and for those that are tried again */
    size_t claim_count;
    bool input_ended, input_waits; /* at its end; there is no more at the moment */
    const char *stop;              /* no more lines are begun; static: why */
    struct hc_error unheard;       /* if standard output takes no more results: why */
    int signals;
    int64_t failures, ended_here, not_run, began_us;
    int timer; /* owned */
    bool bar;  /* progress is drawn, on a terminal */
};

/* front_input.c: take lines until there are as many claims as hands. */
int hc_front_claim(struct hc_front *f, struct hc_error *err);
/* Once more, by the same text, which is taken. */
int hc_front_claim_again(struct hc_front *f, struct hc_claim *claim, struct hc_error *err);

/* front_output.c: a line has ended. `text` is its result with the end of line. */
int hc_front_end(struct hc_front *f, const struct hc_result *r, const char *text, size_t len,
                 struct hc_error *err);
/* The same for one that has no manifest. */
int hc_front_end_bare(struct hc_front *f, const struct hc_result *r, struct hc_error *err);
/* With --ordered: a line without a result. */
int hc_front_end_blank(struct hc_front *f, int64_t line, struct hc_error *err);
int hc_order_start(struct hc_front *f, struct hc_error *err);
bool hc_order_has_room(const struct hc_front *f, int64_t line);

/* progress.c */
int hc_progress_open(struct hc_front *f, struct hc_error *err);
void hc_progress_show(struct hc_front *f);
void hc_progress_hide(const struct hc_front *f); /* before anything else is said */

#endif
