/* metrics.h - the daemon's counters as Prometheus text. */
#ifndef HC_DAEMON_HTTP_METRICS_H
#define HC_DAEMON_HTTP_METRICS_H

#include "daemon/http/http.h"

void hc_metrics_print(const struct hc_http *h, struct hc_buf *out); /* appends the text */

#endif
