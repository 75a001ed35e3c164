#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A record travels as one line through pipes and logs: control characters, which file names may hold, would
 * break that promise. */
static void one_line(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++)
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
}

static void record(struct hc_error *err, int exit, int sys, const char *fmt, va_list ap)
{
    err->exit = exit;
    err->sys = sys;
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (sys && used < sizeof err->text)
        (void)snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(sys));
    one_line(err->text);
}

int hc_fail(struct hc_error *err, int sys, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(err, HC_EXIT_INTERNAL, sys, fmt, ap);
    va_end(ap);
    return -1;
}

int hc_fail_as(struct hc_error *err, int exit, int sys, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(err, exit, sys, fmt, ap);
    va_end(ap);
    return -1;
}

int hc_ctx(struct hc_error *err, const char *fmt, ...)
{
    char cause[sizeof err->text];
    memcpy(cause, err->text, sizeof cause);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (used < sizeof err->text)
        (void)snprintf(err->text + used, sizeof err->text - used, ": %s", cause);
    one_line(err->text);
    return -1;
}

int hc_exit_as(struct hc_error *err, int exit)
{
    err->exit = exit;
    return -1;
}
