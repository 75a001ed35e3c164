/* report.h - hotcell-ledger: it prints the output of "hotcell jobs" and "hotcell usage", from a daemon's
 * answers or from its ledger. It is a program of its own, so that "hotcell run" starts without loading
 * SQLite. */
#ifndef HC_DAEMON_LEDGER_PRINT_REPORT_H
#define HC_DAEMON_LEDGER_PRINT_REPORT_H

#include "daemon/ledger/ledger.h"

#define HC_REPORT_SESSION "session" /* the status of an open session in lists */

/* The arguments of both commands. */
struct hc_report_options {
    const char *command;         /* "jobs" or "usage" */
    const char *config;          /* path of the configuration; NULL: the usual one */
    const char *ledger;          /* path of the ledger; NULL: the configuration names it */
    const char *tenant;          /* name of the tenant whose jobs are printed; NULL: of all tenants */
    int state;                   /* enum hc_task_state of the printed jobs; -1: all states */
    const char *status, *policy; /* status, and name of the policy, of the printed jobs; NULL: any */
    const char *socket;          /* address of the daemon; NULL: HOTCELL_SOCKET or the default */
    const char *show;            /* the id of one job, to be printed with all members; NULL: a list */
    bool admin;                  /* jobs of all tenants, as an administrator */
    int64_t since;               /* only jobs or usage from this time on are printed, in ms since 1970 */
    int64_t most;                /* most jobs that are listed; 0: all */
    bool json, hourly;           /* print JSON; usage by the hour, not by the tenant */
};

/* Parse a time: "24h" (before `now`), "2026-11-20" or "2026-11-20T08:00:00Z" (UTC). `now` and `*since` are in
 * ms since 1970. 0, or -1: it is no time. */
int hc_report_since(const char *text, int64_t now, int64_t *since);

/* Print the answer of a daemon. 1: no daemon answers, and the caller did not name one; `err` says why. */
int hc_report_asked(const struct hc_report_options *o, struct hc_error *err);

/* Print a job as a line of the table; print the table's head. */
void hc_report_job_line(const struct hc_ledger_job *job);
void hc_report_job_head(void);
/* Print one job, one member on each line. The manifest and some other members of `row` are printed with
 * --json only. */
int hc_report_job(const cJSON *row, bool json, struct hc_error *err);

/* Print from the ledger the list of jobs, or one job; print the usage. */
int hc_report_jobs(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err);
int hc_report_usage(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err);

/* Print one row of a JSON list on a line of its own, after a comma unless it is the first; clears `*first`.
 * Frees `row`. */
int hc_report_row(cJSON *row, bool *first, struct hc_error *err);

/* Print `ms`, in ms since 1970, as "2026-11-20T08:00:00Z" into `out`, which is returned; "-" for 0. */
const char *hc_report_time(int64_t ms, char out[32]);

#endif
