/* report.h - pages for people who review what a program did: of one job, from its manifest, and of a batch,
 * from its results. One file each, with nothing to load.
 *
 * Manifests may come from anybody, and what is in them from hostile programs: all of it is text or a picture
 * on the page, and all of it is bounded. */
#ifndef HC_REPORT_REPORT_H
#define HC_REPORT_REPORT_H

#include "spec/json.h"

/* Reads files that a manifest lists, below its own directory. `path` is the file's name, raw. -1: there is
 * none, or none that can be read; more than `max` bytes are one. */
struct hc_report_files {
    int (*read)(void *context, const char *path, size_t max, struct hc_buf *out, struct hc_error *err);
    void *context;
};

/* The page of the job whose manifest this is. `code` is the program, or NULL for the one that was kept with
 * the job, if it was. HC_EXIT_DATA if it is no manifest, or not the program. */
struct hc_report_job {
    const struct hc_json *manifest;
    struct hc_report_files files;
    const char *code, *code_name;
    size_t code_len;
};
int hc_report_job(const struct hc_report_job *job, struct hc_buf *out, struct hc_error *err);

/* Does the manifest list this file as one of the program's? */
bool hc_report_lists(const cJSON *manifest, const char *path);

/* ---- batches ---- */

/* Of each job that a page has there is no more than what its table says, so that a batch may be of any
 * length. */
struct hc_report_batch;

struct hc_report_batch *hc_report_batch_new(void); /* NULL: no memory */
void hc_report_batch_free(struct hc_report_batch *b);

/* A line of results.jsonl or of journal.jsonl; results come first. `name` is the file's, for messages. A line
 * that has a result already keeps it. HC_EXIT_DATA. */
int hc_report_batch_line(struct hc_report_batch *b, const char *name, int64_t number, const char *text,
                         size_t len, struct hc_error *err);

/* The last line of a file was not whole: what wrote it was killed, or is at work. */
void hc_report_batch_torn(struct hc_report_batch *b);

/* For each job that the page's table has, and whose files are in "jobs/ID": `job_id` is such a name. A page
 * that is there, jobs/ID/report.html, is linked to if this says so. `owns`: a file of this name is the
 * program's, or it is not known whether it is. */
typedef bool hc_report_batch_has(void *context, const char *job_id, bool owns);
int hc_report_batch_page(struct hc_report_batch *b, const char *title, hc_report_batch_has *has,
                         void *context, struct hc_buf *out, struct hc_error *err);

#endif
