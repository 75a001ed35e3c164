/* job_parts.h - private to src/job: the pieces of a job, from a spec and from a command line. Messages do not
 * name the place of a wrong piece, which the caller knows. */
#ifndef HC_JOB_JOB_PARTS_H
#define HC_JOB_JOB_PARTS_H

#include "job/job.h"

#define HC_JOB_VARS   256 /* most variables of a job */
#define HC_JOB_LABELS 64  /* most labels of a job */

extern const char hc_job_id_shape[]; /* what an id has to be, for messages */

/* Why the name, path or label is refused; NULL: it is good. `job` has the names that are taken; NULL: no
 * names are. */
const char *hc_job_bad_variable(const struct hc_job *job, const char *name);
const char *hc_job_bad_path(const char *path);
const char *hc_job_bad_label(const char *key, const char *value);

/* Split NAME=REST, which `what` describes. The name is copied into `name`; returns REST, or NULL
 * (HC_EXIT_USAGE). */
const char *hc_job_split_assignment(const char *assignment, const char *what, char name[HC_JOB_NAME + 1],
                                    struct hc_error *err);

/* Add an input. The caller has checked that there is room, and has checked name and path. */
int hc_job_put_input(struct hc_job *job, const char *name, const char *path, enum hc_input_format format,
                     struct hc_error *err);

/* Why `path` is refused as that of a file in a session's working directory, relative to it or not; NULL: it
 * is good. */
const char *hc_job_bad_own_file(const char *path);

/* Add the content of one uploaded input, which is `node`, to `uploads`. `*file` gets the name of its file,
 * and
 * `*place` the place of its copy in the working directory or NULL; the caller owns both. */
int hc_job_put_upload(struct hc_uploads *uploads, const struct hc_json *json, const cJSON *node,
                      const char *name, char **file, char **place, struct hc_error *err);

/* Add a directory of the host; `place` and `mode` NULL: their defaults. Returns what is wrong, or NULL: it
 * was added. (job_dirs.c) */
const char *hc_job_put_dir(struct hc_job *job, const char *host, const char *place, const char *mode);
/* The same for a volume of the sender's tenant. */
const char *hc_job_put_volume(struct hc_job *job, const char *name, const char *place);
void hc_job_free_dirs(struct hc_job *job); /* frees the texts of job->dirs */

/* Add a returned variable; `text` is NAME or NAME=FORMAT. Returns what is wrong, or NULL: it was added. */
const char *hc_job_put_return(struct hc_job *job, const char *text);

/* Add an override, or replace the earlier one of the same option. */
int hc_job_put_override(struct hc_job *job, const struct hc_option *opt, const char *text,
                        struct hc_error *err);

/* Decode base64 (RFC 4648), in which line breaks are allowed; the caller owns *data. 1: `text` is not base64.
 */
int hc_job_decode_base64(const char *text, char **data, size_t *len, struct hc_error *err);

/* Add an environment variable, in the place of an earlier one. Returns what is wrong, or NULL: it was added.
 */
const char *hc_job_put_env(struct hc_job *job, const char *name, const char *value);

/* Parse the members "args", "env" and "stdin" of a spec, whose value is `node`. HC_EXIT_DATA, with line and
 * column. (job_input.c) */
int hc_job_parse_args(struct hc_job *job, const struct hc_json *json, const cJSON *node,
                      struct hc_error *err);
int hc_job_parse_command(struct hc_job *job, const struct hc_json *json, const cJSON *node,
                         struct hc_error *err);
int hc_job_parse_env(struct hc_job *job, const struct hc_json *json, const cJSON *node, struct hc_error *err);
int hc_job_parse_input(struct hc_job *job, const struct hc_json *json, const cJSON *node,
                       struct hc_error *err);

#endif
