/* upload_store.h - uploads: content of inputs that comes in parts, is written to the disk as it comes, and is
 * then named by jobs and sessions of its tenant.
 *
 * Each is a file TENANT:ID in HC_UPLOADS_DIR, with ".part" behind the name until it is finished. The front
 * alone writes there (process/sandbox.c); a worker makes a link to the file for the cell that reads it. What
 * an earlier daemon has finished is found again. */
#ifndef HC_DAEMON_QUEUE_UPLOAD_STORE_H
#define HC_DAEMON_QUEUE_UPLOAD_STORE_H

#include "base/buf.h"
#include "base/hash.h"
#include "daemon/process/problem.h"
#include "daemon/queue/task.h"

#include <sodium.h>

#define HC_UPLOADS_TENANT 64 /* most uploads of a tenant */

struct hc_upload {
    char id[HC_JOB_ID];       /* ID of the upload */
    struct hc_tenant *tenant; /* tenant of the upload, whose stored_bytes include its bytes; borrowed */
    int64_t bytes;            /* bytes of its content that were received so far */
    int64_t created, used;    /* when it was made; when a part came or a request named it; ms since 1970 */
    bool finished;            /* the upload is complete, and jobs may name it */
    bool leaving; /* the upload was removed, and its file is there only because a cell still has it */
    char sha256[HC_SHA256_HEX]; /* SHA-256 of its content; "": not finished, or finished by an earlier daemon
                                 */
    crypto_hash_sha256_state hash; /* SHA-256 of the bytes so far */
    int fd; /* descriptor of the file while a part is written; owned; -1: no part is written */
    struct hc_upload *next; /* next older upload in the list hc_upload_store.newest; NULL: none */
};

struct hc_upload_store {
    int dir_fd;               /* descriptor of HC_UPLOADS_DIR; owned; -1: not open */
    struct hc_upload *newest; /* list of all uploads, the newest first; owned */
};

/* Open the directory, remove unfinished uploads and note the finished ones. To be called before the sandbox.
 */
int hc_upload_store_open(struct hc_upload_store *s, struct hc_tenants *tenants, struct hc_error *err);

/* Begin an upload. NULL (`why`): the tenant has too many, or the file cannot be made. */
struct hc_upload *hc_upload_create(struct hc_upload_store *s, struct hc_tenant *t, struct hc_problem *why);

/* The tenant's upload of this id. NULL: it has none. */
struct hc_upload *hc_upload_find(const struct hc_upload_store *s, const struct hc_tenant *t, const char *id);

/* Take a part that begins at `offset`, which has to be the number of bytes so far: begin it, add its bytes as
 * they come, end it. -1: it is refused; `why` says why. Bytes that were added before a refusal stay. */
int hc_upload_begin_part(struct hc_upload_store *s, struct hc_upload *u, int64_t offset,
                         struct hc_problem *why);
int hc_upload_add(struct hc_upload *u, const void *data, size_t len, struct hc_problem *why);
void hc_upload_end_part(struct hc_upload *u);

/* Finish an upload, whose content has to have this SHA-256. -1: it has another one, a part of it is being
 * received, or its file cannot be renamed; `why` says which, and the upload stays as it is. */
int hc_upload_finish(struct hc_upload_store *s, struct hc_upload *u, const char *sha256,
                     struct hc_problem *why);

/* Open the content of a finished upload for reading. -1: errno. */
int hc_upload_open(const struct hc_upload_store *s, const struct hc_upload *u);

/* Remove an upload. Cells that read it go on, and its bytes count until the last of them has ended;
 * hc_upload_find does not find it meanwhile. -1 (`why`): a part of it is being received. */
int hc_upload_remove(struct hc_upload_store *s, struct hc_upload *u, struct hc_problem *why);

/* Remove the uploads that were not used for `age_ms` milliseconds, and the files of uploads that were removed
 * while cells still had them. */
void hc_upload_store_sweep(struct hc_upload_store *s, int64_t age_ms);

/* Append the upload as JSON: {"upload_id", "state", "bytes", "sha256", "created", "used"}. */
void hc_upload_print(const struct hc_upload *u, struct hc_buf *out);

#endif
