/* report.h - private to `hotcell report`: report.c, pages of jobs, and report_batch.c, those of batches. */
#ifndef HC_CLI_REPORT_H
#define HC_CLI_REPORT_H

#include "base/buf.h"
#include "base/error.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdbool.h>

#define HC_REPORT_NAME "report.html"

struct report {
    const char *output; /* NULL: HC_REPORT_NAME, beside what it is of */
    const char *code_path;
    bool force, each;
    bool quiet;           /* does not print where the page is */
    int dir;              /* of what is read; owned */
    char place[PATH_MAX]; /* the same, by name */
};

/* Open a file below `dir`, without following links; -1 with HC_EXIT_DATA. */
int report_open(const struct report *r, const char *path, struct hc_error *err);

/* Is there a page of ours already? */
bool report_is_page(int fd);

/* `manifest`: of the job whose page it is; NULL: none. */
int report_write(const struct report *r, const cJSON *manifest, const struct hc_buf *page,
                 struct hc_error *err);

/* The page of the job whose manifest has this name in `dir`. */
int report_job(struct report *r, const char *name, struct hc_error *err);

/* The page of the batch in `dir`, or of the file with this name in it. */
int report_batch(struct report *r, const char *name, struct hc_error *err);
bool report_is_batch(const struct report *r);

#endif
