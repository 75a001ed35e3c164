/* job_parts.h - private to src/job: the pieces of a job, from a spec and from a command line. Messages do not
 * name the place of a wrong piece, which the caller knows. */
#ifndef HC_JOB_JOB_PARTS_H
#define HC_JOB_JOB_PARTS_H

#include "job/job.h"

#define HC_JOB_VARS   256 /* most variables of a job */
#define HC_JOB_LABELS 64  /* most labels of a job */
#define HC_JOB_NAME   64  /* most bytes of an id, and of the name of an input, a variable or a label */

extern const char hc_job_id_shape[];

/* Why the name, path or label is refused; NULL: it is good. `job` has the names that are taken; NULL: no
 * names are. */
const char *hc_job_bad_variable(const struct hc_job *job, const char *name);
const char *hc_job_bad_path(const char *path);
const char *hc_job_bad_label(const char *key, const char *value);

/* Add an input. The caller has checked that there is room, and has checked name and path. */
int hc_job_put_input(struct hc_job *job, const char *name, const char *path, enum hc_input_format format,
                     struct hc_error *err);

/* Add the content of one uploaded input, which is `node`, to `uploads`. `*file` gets the name of its file,
 * which the caller owns. */
int hc_job_put_upload(struct hc_uploads *uploads, const struct hc_json *json, const cJSON *node, char **file,
                      struct hc_error *err);

/* Add a directory of the host; `place` and `mode` NULL: their defaults. Returns what is wrong, or NULL: it
 * was added. (job_dirs.c) */
const char *hc_job_put_dir(struct hc_job *job, const char *host, const char *place, const char *mode);
void hc_job_free_dirs(struct hc_job *job);

/* Add a returned variable; `text` is NAME or NAME=FORMAT. Returns what is wrong, or NULL: it was added. */
const char *hc_job_put_return(struct hc_job *job, const char *text);

/* Add an override, or replace the earlier one of the same option. */
int hc_job_put_override(struct hc_job *job, const struct hc_option *opt, const char *text,
                        struct hc_error *err);

#endif
