/* log.h - what a program of ours says on stderr: one line per event, prefixed with its name. */
#ifndef HC_BASE_LOG_H
#define HC_BASE_LOG_H

#include "base/error.h"

void hc_log_name(const char *program); /* borrowed for the life of the program; default "hotcell" */

void hc_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print the error as the program's last line and return the exit status that belongs to it. */
int hc_report(const struct hc_error *err);

#endif
