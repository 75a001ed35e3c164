#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static const char *name = "hotcell";

void hc_log_name(const char *program)
{
    name = program;
}

void hc_warn(const char *fmt, ...)
{
    struct hc_error line;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(line.text, sizeof line.text, fmt, ap);
    va_end(ap);
    (void)fprintf(stderr, "%s: %s\n", name, line.text);
}

int hc_report(const struct hc_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", name, err->text);
    return err->exit ? err->exit : HC_EXIT_INTERNAL;
}
