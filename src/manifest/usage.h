/* usage.h - the resources that a job used, as numbers: the rows of usage.def. */
#ifndef HC_MANIFEST_USAGE_H
#define HC_MANIFEST_USAGE_H

#include <stddef.h>
#include <stdint.h>

/* A number is -1 if it is unknown. Times are in microseconds. */
struct hc_job_usage {
#define HC_USAGE_ROW(member, ...) int64_t member;
#include "manifest/usage.def"
};

/* The unit of a number in a manifest. */
enum hc_usage_unit { HC_USAGE_SECONDS, HC_USAGE_BYTES, HC_USAGE_COUNT };
/* What a number means in a session's cell: the sum over its runs; the most so far; the number now. */
enum hc_usage_kind { HC_USAGE_SUM, HC_USAGE_PEAK, HC_USAGE_STATE };

struct hc_usage_row {
    const char *name; /* name of the member in a manifest's "usage" */
    /* Unit of the number in a manifest; for HC_USAGE_SECONDS the member of struct hc_job_usage is in
     * microseconds. */
    enum hc_usage_unit unit;
    enum hc_usage_kind kind; /* what the number says of a session's cell */
    const char *file, *key;  /* file of the cell's cgroup with the number, and key in it; NULL: none */
    const char *text;        /* description for the man page */
    size_t at;               /* offsetof of the member in struct hc_job_usage */
};

extern const struct hc_usage_row hc_usage_rows[];
extern const size_t hc_usage_row_count;

/* Get or set the number of a row. */
int64_t hc_usage_get(const struct hc_job_usage *u, const struct hc_usage_row *row);
void hc_usage_set(struct hc_job_usage *u, const struct hc_usage_row *row, int64_t value);
void hc_usage_forget(struct hc_job_usage *u); /* sets all numbers to -1 */

/* Copy only the peaks that the cgroup counts: the cgroup's other numbers are totals of a whole session, and
 * so are not those of its last run. */
void hc_usage_take_peaks(struct hc_job_usage *to, const struct hc_job_usage *from);

#endif
