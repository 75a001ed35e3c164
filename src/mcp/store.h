/* store.h - what a server keeps: files written for programs to come, and what programs left. A directory of
 * the server's own, every name in it opened by descriptor, beneath it and through no link. */
#ifndef HC_MCP_STORE_H
#define HC_MCP_STORE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define HC_STORE_WRITTEN       256                  /* most files that are written for programs */
#define HC_STORE_WRITTEN_BYTES ((int64_t)256 << 20) /* and what they may have together */
#define HC_STORE_RUNS          64                   /* runs whose results are kept; older ones go */
#define HC_STORE_NAME          80                   /* bytes of a written file's name */

struct hc_stored {
    char *path;       /* "files/NAME" or "run-N/..." */
    const char *mime; /* static */
    int64_t bytes;
};

#define HC_STORE_RUN 24 /* bytes of a run's name, its NUL included */

/* A run or a session, which has a name; or what was written. */
struct hc_stored_run {
    char name[HC_STORE_RUN];
    bool open;               /* a session that goes on: it is not removed */
    struct hc_stored *files; /* owned */
    size_t count;
    int64_t bytes;
};

struct hc_store {
    char *path;     /* owned; absolute */
    int fd;         /* of it */
    bool temporary; /* goes with the store */
    int64_t max;    /* bytes of results that are kept */
    int runs_begun, sessions_begun;
    struct hc_stored_run written;
    struct hc_stored_run runs[HC_STORE_RUNS]; /* oldest first */
    size_t run_count;
};

/* A new directory in `parent`, which is made if it is missing; NULL: a temporary one. */
int hc_store_open(struct hc_store *s, const char *parent, int64_t max, struct hc_error *err);
/* The directory goes too if it is temporary, or nothing is in it. */
void hc_store_close(struct hc_store *s);

/* Remove the temporary directories of servers of this user that were killed. Returns how many. */
int hc_store_reap(void);

/* What may be the name of a written file, whose stem becomes a variable's name; NULL, or what is wrong. */
const char *hc_store_bad_name(const char *name);

/* Why these must not be written, for the model; NULL: they may. */
const char *hc_store_no_room(const struct hc_store *s, const char *name, size_t len);
int hc_store_write(struct hc_store *s, const char *name, const void *data, size_t len, struct hc_error *err);

/* A file by its path; NULL: there is none. */
const struct hc_stored *hc_store_find(const struct hc_store *s, const char *path);
/* The run, or what is written: "run-3", "files". NULL: there is none. */
const struct hc_stored_run *hc_store_find_run(const struct hc_store *s, const char *name);

/* Part of a file: at most `max` bytes from `offset`. */
int hc_store_read(const struct hc_store *s, const struct hc_stored *file, int64_t offset, size_t max,
                  struct hc_buf *out, struct hc_error *err);

/* Remove a written file, or with "run-N" a run. 1: there is none; 2: it is open. */
int hc_store_remove(struct hc_store *s, const char *path, struct hc_error *err);

/* A new run, "run-N", or a new session. What is given to it is put in a directory of its own, under names
 * that nobody changes any more: a file of the store, or bytes. */
int hc_store_begin(struct hc_store *s, bool session, char name[HC_STORE_RUN], struct hc_error *err);
int hc_store_give_stored(struct hc_store *s, const char *run, const struct hc_stored *file, const char *name,
                         struct hc_error *err);
int hc_store_give(struct hc_store *s, const char *run, const char *name, const void *data, size_t len,
                  struct hc_error *err);
/* Where these are, as absolute paths. */
int hc_store_given_path(const struct hc_store *s, const char *run, const char *name, char *out, size_t size);
int hc_store_run_path(const struct hc_store *s, const char *run, char *out, size_t size);
/* It needs what was given no longer. */
void hc_store_take_back(struct hc_store *s, const char *run);

/* A list of what a run left, which grows by paths in its directory. */
void hc_stored_init(struct hc_stored_run *run, const char *name);
void hc_stored_finish(struct hc_stored_run *run);
int hc_stored_list(struct hc_stored_run *run, const char *path, int64_t bytes);

/* Take a list, beside what there is already of the same name: a file that is there again is listed once. What
 * is `open` says whether more will come. Then have the oldest runs make room. */
void hc_store_keep(struct hc_store *s, struct hc_stored_run *taken, bool open);

#endif
