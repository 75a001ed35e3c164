#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <syslog.h>

static const char *name = "hotcell";
static bool priorities;

void hc_log_name(const char *program)
{
    name = program;
}

void hc_log_priorities(void)
{
    priorities = true;
}

static void print_line(int priority, const char *text)
{
    if (priorities)
        (void)fprintf(stderr, "<%d>%s\n", priority, text);
    else
        (void)fprintf(stderr, "%s: %s\n", name, text);
}

static void log_line(int priority, const char *fmt, va_list ap)
{
    struct hc_error line;
    char text[sizeof line.text];
    (void)vsnprintf(text, sizeof text, fmt, ap);
    (void)hc_fail(&line, 0, "%s", text); /* a guest's text must not drive the terminal or add lines */
    print_line(priority, line.text);
}

void hc_info(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    log_line(LOG_INFO, fmt, ap);
    va_end(ap);
}

void hc_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    log_line(LOG_WARNING, fmt, ap);
    va_end(ap);
}

int hc_report(const struct hc_error *err)
{
    print_line(LOG_ERR, err->text);
    return err->exit ? err->exit : HC_EXIT_INTERNAL;
}
