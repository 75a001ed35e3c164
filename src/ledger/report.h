/* report.h - hotcell-ledger: what "hotcell jobs" and "hotcell usage" print of a daemon's ledger. A program of
 * its own, so that "hotcell run" starts without a database. */
#ifndef HC_LEDGER_REPORT_H
#define HC_LEDGER_REPORT_H

#include "daemon/ledger.h"

/* The arguments of both. */
struct hc_report_options {
    const char *command; /* "jobs" or "usage" */
    const char *config;  /* NULL: the default */
    const char *ledger;  /* NULL: where the configuration says */
    const char *tenant;  /* NULL: all */
    int state;           /* -1: all */
    int64_t since;       /* ms since 1970 */
    int64_t most;        /* 0: all */
    bool json, hourly;
};

/* "24h" ago, or a time: "2026-11-20", "2026-11-20T08:00:00Z" (UTC). 0 or -1. */
int hc_report_since(const char *text, int64_t now, int64_t *since);

int hc_report_jobs(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err);
int hc_report_usage(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err);

/* A row of a list in JSON, one per line; first tells whether a comma is due. Owns `row`. */
int hc_report_row(cJSON *row, bool *first, struct hc_error *err);

/* "2026-11-20T08:00:00Z"; "-" for 0. */
const char *hc_report_time(int64_t ms, char out[32]);

#endif
