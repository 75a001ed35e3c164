/* chart.h - charts that are read without a script: lines over time, and bars. */
#ifndef HC_REPORT_CHART_H
#define HC_REPORT_CHART_H

#include "base/buf.h"

struct hc_point {
    double x, y;
};

/* How a value reads: hc_html_size, hc_html_time... */
typedef char *hc_chart_format(double value, char out[64]);
char *hc_chart_number(double value, char out[64]);

struct hc_line_chart {
    const char *title;
    const struct hc_point *points; /* x from 0 on, growing */
    size_t count;
    double until;   /* where the x axis ends */
    double ceiling; /* marked by a line of its own if it is not far above; 0: none */
    const char *ceiling_name;
    hc_chart_format *format; /* of y; x is seconds */
};
void hc_chart_line(struct hc_buf *out, const struct hc_line_chart *chart);

/* How many of the values are as large as this: bins that grow by the same factor each. Those that are not
 * above 0 count as the least. */
struct hc_histogram {
    const char *title;
    const double *values;
    size_t count;
    hc_chart_format *format;
};
void hc_chart_histogram(struct hc_buf *out, const struct hc_histogram *chart);

/* A bar of so much of the whole. */
void hc_chart_bar(struct hc_buf *out, const char *class, double part, double whole);

#endif
