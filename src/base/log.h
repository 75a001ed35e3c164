/* log.h - messages of hotcell's programs on stderr: one line per event, prefixed with the program's name. */
#ifndef HC_BASE_LOG_H
#define HC_BASE_LOG_H

#include "base/error.h"

/* Set the name that each line begins with; borrowed for the life of the program. Default: "hotcell". */
void hc_log_name(const char *program);

/* From here on each line begins with its syslog priority, "<4>", as journald reads standard error
 * (sd-daemon(3)). */
void hc_log_priorities(void);

/* Print one line: what has happened; what the administrator should look at. They differ in the priority. */
void hc_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void hc_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print the error as the program's last line and return the exit status that belongs to it. */
int hc_report(const struct hc_error *err);

#endif
