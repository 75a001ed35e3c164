/* store.h - the files that a server keeps: those that the client wrote, and those that programs left. The
 * store has their list, and bounds it; their content is in a place of the host's (struct hc_store_place). */
#ifndef HC_MCP_STORE_H
#define HC_MCP_STORE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define HC_STORE_WRITTEN       256                  /* most files that the client may write */
#define HC_STORE_WRITTEN_BYTES ((int64_t)256 << 20) /* most bytes of all files that the client may write */
#define HC_STORE_RUNS          64      /* most runs whose results are kept; older ones are removed */
#define HC_STORE_NAME          80      /* most bytes of a written file's name */
#define HC_STORE_FILES         "files" /* begins the paths of the files that the client wrote */

/* A file in the store. */
struct hc_stored {
    char *path;       /* "files/NAME", "run-N/..." or "session-N/...", below the store's directory; owned */
    const char *mime; /* MIME type of the file; static */
    int64_t bytes;    /* size of the file, in bytes */
};

#define HC_STORE_RUN  24  /* bytes of a run's name, its NUL included */
#define HC_STORE_HINT 240 /* bytes of what hc_files_hint says, its NUL included */

/* The files of a run or session, or those that the client wrote. */
struct hc_stored_run {
    char name[HC_STORE_RUN]; /* "run-N", "session-N" or "files" */
    bool open;               /* the run is an open session, whose files are not removed */
    struct hc_stored *files; /* the files; owned */
    size_t count;            /* number of `files` */
    int64_t bytes;           /* bytes of these files together */
};

struct hc_store;

/* What the store asks of the place that has the content of its files. -1: it failed. */
struct hc_store_place {
    /* Make room for the inputs of a run or session that begins. */
    int (*begin)(struct hc_store *s, const char *run, struct hc_error *err);
    /* As hc_files_read; write a file of the client's, in the place of an older one; remove it. */
    int (*read)(const struct hc_store *s, const struct hc_stored *file, int64_t offset, size_t max,
                struct hc_buf *out, struct hc_error *err);
    int (*write)(struct hc_store *s, const char *name, const void *data, size_t len, struct hc_error *err);
    int (*remove)(struct hc_store *s, const char *path, struct hc_error *err);
    /* The store forgets a run: remove what it left. `asked`: the client has asked for that. */
    void (*drop)(struct hc_store *s, const char *run, bool asked);
};

struct hc_store {
    const struct hc_store_place *place;       /* where the files are; static */
    int64_t max;                              /* most bytes of results that are kept */
    int runs_begun, sessions_begun;           /* numbers of the last run and the last session; 0: none */
    struct hc_stored_run written;             /* files that the client wrote */
    struct hc_stored_run runs[HC_STORE_RUNS]; /* oldest first */
    size_t run_count;                         /* used entries of `runs` */
};

/* Free the lists; the files stay. */
void hc_files_finish(struct hc_store *s);

/* Check a name for a written file. Returns NULL, or an error message, static. */
const char *hc_files_bad_name(const char *name);

/* Why `len` bytes cannot be written under this name, as a static message for the model; NULL: they can. */
const char *hc_files_no_room(const struct hc_store *s, const char *name, size_t len);
/* Write a file of the client's, in the place of an older one of this name. */
int hc_files_write(struct hc_store *s, const char *name, const void *data, size_t len, struct hc_error *err);

/* Find a file by its path; NULL: there is none. */
const struct hc_stored *hc_files_find(const struct hc_store *s, const char *path);
/* What to say behind "there is no file PATH here": the file that has this name, or how to find out. */
void hc_files_hint(const struct hc_store *s, const char *path, char hint[HC_STORE_HINT]);
/* Find a run by its name, or the written files as "files". NULL: there is none. */
const struct hc_stored_run *hc_files_find_run(const struct hc_store *s, const char *name);

/* Append part of a file to `out`: at most `max` bytes from `offset`. */
int hc_files_read(const struct hc_store *s, const struct hc_stored *file, int64_t offset, size_t max,
                  struct hc_buf *out, struct hc_error *err);

/* Remove a written file, or with `path` "run-N" a run. 1: there is none; 2: it is an open session. */
int hc_files_remove(struct hc_store *s, const char *path, struct hc_error *err);

/* Begin a run, "run-N", or a session, "session-N"; `name` gets its name. */
int hc_files_begin(struct hc_store *s, bool session, char name[HC_STORE_RUN], struct hc_error *err);

/* Begin an empty list of the files of the run `name`; free it; add a file of `bytes` bytes by its path in the
 * run's directory (-1: no memory). */
void hc_stored_init(struct hc_stored_run *run, const char *name);
void hc_stored_finish(struct hc_stored_run *run);
int hc_stored_list(struct hc_stored_run *run, const char *path, int64_t bytes);

/* Add the list `taken`, which the store owns from then on, to the stored run of the same name; a file that is
 * listed already is updated. `open`: more files may come. Then remove the oldest runs if the store is too
 * large. */
void hc_files_keep(struct hc_store *s, struct hc_stored_run *taken, bool open);

#endif
