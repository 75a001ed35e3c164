/* file_requests.h - private to session_files.c and its parts file_request.c, file_write.c, file_read.c and
 * file_change.c: a request about files, and what they share. */
#ifndef HC_CELL_SESSION_FILE_REQUESTS_H
#define HC_CELL_SESSION_FILE_REQUESTS_H

#include "cell/session/session_files.h"
#include "cell/session/session_parts.h"

#include <sys/stat.h>

#define HC_FILE_MOST_READ ((int64_t)8 << 20) /* most bytes of a file in one answer */
#define HC_FILE_MOST_MS   10000        /* longest that a directory is listed, or removed with what is in it */
#define HC_FILE_MOST_TEXT "10 seconds" /* HC_FILE_MOST_MS, for people */

/* A request about files. */
struct hc_file_request {
    struct hc_session *s; /* borrowed */
    bool writes, reads;   /* it is write_file; it is read_file */
    bool lists;           /* it is list_files */
    bool moves, removes;  /* it is move_file; it is remove_file */
    bool all;             /* remove a directory with all that is in it */
    const char *to;       /* where it is moved to, as `path`; borrowed; NULL: nowhere */
    const char *after;    /* list names after this one; borrowed; NULL: from the first on */
    int64_t until_us;     /* when a list or a removal is given up: commands may go on filling the directory */
    const char *path;     /* below /output, "." for /output itself; borrowed */
    const char *last;     /* its last part */
    int dir;              /* directory of the last part, owned; -1: not open */
    int64_t offset;       /* where reading or writing begins */
    int64_t total;        /* bytes of the whole file that comes in parts; -1: the client has not said */
    bool more, abandons;  /* further parts follow; no further part follows, and the file is given up */
    int64_t bytes;        /* most bytes to read */
    char *data;           /* content to write into the file; owned; NULL: nothing */
    size_t len;           /* bytes of `data` */
};

void hc_file_request_finish(struct hc_file_request *r); /* closes `dir`, frees `data` */

/* Take what is asked for from the request {NAME: node}; HC_EXIT_DATA: it is none. (file_request.c) */
int hc_file_take_request(struct hc_file_request *r, const cJSON *node, struct hc_error *err);
/* Take the content from a member "text" or "data". */
int hc_file_take_content(struct hc_file_request *r, const cJSON *member, struct hc_error *err);

/* Refuse the request. Returns 1. */
int hc_file_refuse(struct hc_error *err, const struct hc_file_request *r, const char *why);
/* Refuse the request because of errno. Returns 1, or -1 if the host has no memory or descriptors left. */
int hc_file_refuse_errno(struct hc_error *err, const struct hc_file_request *r, const char *doing);

/* Open `name` below the directory `dir`, neither through a link nor out of it. -1: `errno`. */
int hc_file_open_confined(int dir, const char *name, int flags);
/* Open the directory of the file, at r->dir; with `make`, make what is missing of it. Returns 0, 1 or -1 as
 * hc_session_serve_files, as all that follow. */
int hc_file_open_parent(struct hc_file_request *r, bool make, struct hc_error *err);
/* Open the plain file that the request is about; `*st` is its own. -1: `errno`. */
int hc_file_open_plain(const struct hc_file_request *r, int flags, struct stat *st);

/* Append {MEMBER: `name`, "kind", "bytes", "modified"}. */
void hc_file_print(struct hc_buf *out, const char *member, const char *name, const struct stat *st);

/* Whether the content, or the whole file that begins with it, has room; `here`: bytes of the file that are in
 * /output. Make a new file, which gets its name when it is complete. (file_write.c) */
int hc_file_check_room(const struct hc_file_request *r, int64_t here, struct hc_error *err);
int hc_file_write_new(struct hc_file_request *r, struct stat *st, struct hc_error *err);

/* Serve one request each: append the members of its answer. (file_write.c, file_read.c, file_change.c) */
typedef int hc_file_serve(struct hc_file_request *r, struct hc_buf *answer, struct hc_error *err);
hc_file_serve hc_file_write, hc_file_read, hc_file_list, hc_file_stat, hc_file_remove, hc_file_make_directory,
    hc_file_move;

#endif
