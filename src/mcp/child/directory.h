/* directory.h - a store whose files are in a directory of the server's own: each file is opened below the
 * directory's descriptor, and no link is followed. */
#ifndef HC_MCP_CHILD_DIRECTORY_H
#define HC_MCP_CHILD_DIRECTORY_H

#include "mcp/store.h"

struct hc_directory {
    struct hc_store store; /* the list of the files */
    char *path;            /* absolute path of the directory; owned */
    int fd;                /* descriptor of this directory, owned */
    bool temporary;        /* the directory is removed with the store */
};

/* Make the store's directory in `parent`, which is made if missing. `parent` NULL: make a temporary
 * directory. `max`: most bytes of results that are kept. */
int hc_directory_open(struct hc_directory *d, const char *parent, int64_t max, struct hc_error *err);
/* The directory is removed if it is temporary or empty. */
void hc_directory_close(struct hc_directory *d);

/* Remove the temporary directories of servers of this user that were killed. Returns their number. */
int hc_directory_reap(void);

/* The input files of a run are in a directory of its own, where they do not change any more: given bytes, or
 * links to written files, or copies of results. */
int hc_directory_add_input(struct hc_directory *d, const char *run, const char *name, const void *data,
                           size_t len, struct hc_error *err);
int hc_directory_add_stored_input(struct hc_directory *d, const char *run, const struct hc_stored *file,
                                  const char *name, struct hc_error *err);
/* Write into `out` the absolute path of an input file; of the directory of the run's results. -1: it is too
 * long. */
int hc_directory_input_path(const struct hc_directory *d, const char *run, const char *name, char *out,
                            size_t size);
int hc_directory_run_path(const struct hc_directory *d, const char *run, char *out, size_t size);
/* Remove the input files of a run. */
void hc_directory_remove_inputs(struct hc_directory *d, const char *run);

#endif
