/* report.h - hotcell-ledger: what "hotcell jobs" and "hotcell usage" print, of jobs as a daemon tells of them
 * or of its ledger. A program of its own, so that "hotcell run" starts without a database. */
#ifndef HC_DAEMON_LEDGER_PRINT_REPORT_H
#define HC_DAEMON_LEDGER_PRINT_REPORT_H

#include "daemon/ledger/ledger.h"

#define HC_REPORT_SESSION "session" /* the status that an open session is shown with */

/* The arguments of both. */
struct hc_report_options {
    const char *command;         /* "jobs" or "usage" */
    const char *config;          /* NULL: the default */
    const char *ledger;          /* NULL: where the configuration says */
    const char *tenant;          /* NULL: all */
    int state;                   /* enum hc_task_state; -1: all */
    const char *status, *policy; /* NULL: all */
    const char *socket;          /* of the daemon, as HOTCELL_SOCKET says it; NULL: that */
    const char *show;            /* the ID of one job, of which all is told; NULL: a list */
    bool admin;                  /* jobs of all tenants, as an administrator */
    int64_t since;               /* ms since 1970 */
    int64_t most;                /* 0: all */
    bool json, hourly;
};

/* "24h" ago, or a time: "2026-11-20", "2026-11-20T08:00:00Z" (UTC). 0 or -1. */
int hc_report_since(const char *text, int64_t now, int64_t *since);

/* Of a daemon. 1: there is none, and the caller did not say where one is; `err` says why. */
int hc_report_asked(const struct hc_report_options *o, struct hc_error *err);

/* As a line of the table, and what stands above it. */
void hc_report_job_line(const struct hc_ledger_job *job);
void hc_report_job_head(void);
/* One job, a member a line. `manifest` and others of `row` are for --json. */
int hc_report_job(const cJSON *row, bool json, struct hc_error *err);

int hc_report_jobs(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err);
int hc_report_usage(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err);

/* A row of a list in JSON, one per line; first tells whether a comma is due. Owns `row`. */
int hc_report_row(cJSON *row, bool *first, struct hc_error *err);

/* "2026-11-20T08:00:00Z"; "-" for 0. */
const char *hc_report_time(int64_t ms, char out[32]);

#endif
