/* front.h - private to the front: the struct that its parts share. */
#ifndef HC_BATCH_FRONT_H
#define HC_BATCH_FRONT_H

#include "batch/reader.h"
#include "batch/resume.h"
#include "batch/worker.h"

#define HC_BATCH_WINDOW 16384 /* with --ordered: most lines that may end before an earlier line */

/* A line whose job waits or runs. */
struct hc_claim {
    struct hc_batch_task task; /* the message that the worker gets */
    int fd;                    /* memfd with the line's text; owned */
    uint64_t sync;             /* the job may start when folder.synced reaches this number */
};

/* One worker process. */
struct hc_worker {
    pid_t pid;             /* 0: there is no process */
    int fd;                /* socket to it, owned */
    bool idle, busy;       /* it waits for a task; it runs a task */
    bool served;           /* the worker has sent a message */
    struct hc_claim claim; /* the line that it runs, if busy */
};

/* With --ordered: results that wait for those of earlier lines. */
struct hc_order {
    int64_t next; /* hc_shard_index of the next result */
    struct {
        int64_t at; /* offset of the result in the journal */
        size_t len; /* bytes of the result; 0: the line has none */
        bool set;   /* the line has ended */
    } * ring;       /* by index, HC_BATCH_WINDOW of them; owned */
};

struct hc_batch_front {
    struct hc_batch *batch;               /* the batch; borrowed */
    const struct hc_batch_options *asked; /* the options, with `jobs` and shards decided; borrowed */
    struct hc_folder folder;              /* the batch's directory */
    struct hc_reader reader;              /* reader of the jobs file */
    struct hc_past past;                  /* what earlier runs have left */
    struct hc_job_ids job_ids;            /* IDs of the jobs of all lines so far */
    struct hc_tally tally;                /* counts of all results so far, those of earlier runs included */
    struct hc_order order;                /* unused without --ordered */
    int input, cancel_event; /* the jobs file; an eventfd, readable when workers must end their jobs; owned */
    const char *name;        /* name of the jobs file, for messages */
    int64_t input_bytes;     /* size of the jobs file in bytes; -1: unknown */
    struct hc_worker *workers; /* worker processes; owned */
    size_t worker_count;       /* number of `workers` */
    struct hc_claim *claims; /* queue of waiting lines, owned; it has room for two per worker, as jobs may be
                                tried again */
    size_t claim_count;      /* used entries of `claims` */
    bool input_ended, input_waits; /* the input is at its end; no whole line is there at the moment */
    const char *stop;              /* why no more lines are begun, static; NULL: they are */
    struct hc_error stdout_error;  /* why standard output takes no more results; exit 0: it takes them */
    struct hc_error many_error;    /* why no more than HC_BATCH_FEW jobs are begun; exit 0: more are */
    int64_t begun;                 /* jobs that this run has begun */
    int signals;                   /* number of signals received so far */
    /* Jobs that failed in this run; jobs that ended in it; its start (CLOCK_MONOTONIC, us). */
    int64_t failures, ended_here, began_us;
    int timer; /* fires when progress is to be shown; owned */
    bool bar;  /* progress is drawn as a bar, on a terminal; else it is printed line by line */
};

/* front_input.c: read lines until there are as many claims as workers. */
int hc_batch_front_claim(struct hc_batch_front *f, struct hc_error *err);
/* Queue a claim again for another attempt. Takes its text. */
int hc_batch_front_claim_again(struct hc_batch_front *f, struct hc_claim *claim, struct hc_error *err);

/* front_output.c: write the result of a line that has ended. `text` is the result with its newline. */
int hc_batch_front_end(struct hc_batch_front *f, const struct hc_result *r, const char *text, size_t len,
                       struct hc_error *err);
/* The same for a result without a manifest; this function makes its text from `r`. */
int hc_batch_front_end_bare(struct hc_batch_front *f, const struct hc_result *r, struct hc_error *err);
/* Note a line without a job, which has no result. */
int hc_batch_front_end_blank(struct hc_batch_front *f, int64_t line, struct hc_error *err);
/* With --ordered: allocate the ring and fill it with the results that wait in the journal. May this line,
 * from 1, begin, or would its result be too far ahead of the next one? */
int hc_order_start(struct hc_batch_front *f, struct hc_error *err);
bool hc_order_has_room(const struct hc_batch_front *f, int64_t line);

/* progress.c: make the timer; show the progress on standard error, to be called when the timer fires. */
int hc_progress_open(struct hc_batch_front *f, struct hc_error *err);
void hc_progress_show(struct hc_batch_front *f);
void hc_progress_hide(const struct hc_batch_front *f); /* before another line is printed */

#endif
