/* job_parts.h - what the parts of a job's page share. */
#ifndef HC_REPORT_JOB_PARTS_H
#define HC_REPORT_JOB_PARTS_H

#include "report/data.h"
#include "report/html.h"
#include "report/report.h"

#define HC_JOB_MAX_ROWS 1000 /* of a table of ours */

struct hc_job_page {
    const struct hc_json *j;
    const cJSON *m, *guest;
    const struct hc_report_files *files;
    struct hc_buf *out;
    size_t room; /* for pictures */
    struct hc_buf kept;
    const char *code; /* NULL: it is not known */
    size_t code_len;
    bool changed; /* the file is not the program of the manifest */
};

/* Rows are between these, `count` of them, of which HC_JOB_MAX_ROWS are on the page. */
void hc_job_begin_table(const struct hc_job_page *p, const char *head);
void hc_job_end_table(const struct hc_job_page *p, int count);
void hc_job_pair(const struct hc_job_page *p, const char *name, const char *value);

/* That the program's own process is all that says so. */
void hc_job_said(const struct hc_job_page *p);

/* A part of the page: `id` for links, its title, whether there is anything in it, and what. */
struct hc_job_section {
    const char *id, *title;
    bool (*there)(const struct hc_job_page *p);
    void (*put)(struct hc_job_page *p);
};
extern const struct hc_job_section hc_job_code, hc_job_denials, hc_job_warnings, hc_job_runs, hc_job_tools,
    hc_job_output, hc_job_error, hc_job_value, hc_job_results, hc_job_figures, hc_job_usage, hc_job_files,
    hc_job_layers, hc_job_limits, hc_job_origin;

static inline const char *text(const struct hc_job_page *p, const char *name)
{
    return hc_get_text(p->m, name);
}

static inline bool has(const struct hc_job_page *p, const char *name)
{
    return hc_get_length(p->m, name) > 0;
}

static inline void put(const struct hc_job_page *p, const char *markup)
{
    (void)hc_buf_str(p->out, markup);
}

#endif
