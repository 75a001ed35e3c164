/* job_parts.h - private to job.c and job_spec.c: the pieces of a job, whichever form they come in. What is
 * wrong with one is said without the place where it stands, which the caller knows. */
#ifndef HC_JOB_JOB_PARTS_H
#define HC_JOB_JOB_PARTS_H

#include "job/job.h"

#define HC_JOB_VARS   256
#define HC_JOB_LABELS 64
#define HC_JOB_NAME   64 /* bytes: of inputs, vars, labels; ids */

extern const char hc_job_id_shape[];

/* Why `name` cannot be a variable of this job (NULL: of any), NULL if it can. */
const char *hc_job_bad_variable(const struct hc_job *job, const char *name);
const char *hc_job_bad_path(const char *path);
const char *hc_job_bad_label(const char *key, const char *value);

/* There must be room for it; name and path are good ones. */
int hc_job_put_input(struct hc_job *job, const char *name, const char *path, enum hc_input_format format,
                     struct hc_error *err);

/* The members of one uploaded input, which is `node`, into the next place of `uploads`. `file` gets the name
 * of its file; owned by the caller. */
int hc_job_put_upload(struct hc_uploads *uploads, const struct hc_json *json, const cJSON *node, char **file,
                      struct hc_error *err);

/* NAME or NAME=FORMAT. Returns what is wrong with it, "out of memory" too; NULL if it was taken. */
const char *hc_job_put_return(struct hc_job *job, const char *text);

/* In the place of an earlier one of the same option. */
int hc_job_put_override(struct hc_job *job, const struct hc_option *opt, const char *text,
                        struct hc_error *err);

#endif
