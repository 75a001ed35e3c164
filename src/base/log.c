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
    char text[sizeof line.text];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)hc_fail(&line, 0, "%s", text); /* a guest's text must not drive the terminal or add lines */
    (void)fprintf(stderr, "%s: %s\n", name, line.text);
}

int hc_report(const struct hc_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", name, err->text);
    return err->exit ? err->exit : HC_EXIT_INTERNAL;
}
