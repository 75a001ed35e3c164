#include "base/error.h"

#include "base/plain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Append ": cause" to the error's text, cut to the room that is left there. */
static void append(struct hc_error *err, const char *cause)
{
    size_t at = strnlen(err->text, sizeof err->text - 1), room = sizeof err->text - 1 - at;
    if (room < 3)
        return;
    size_t len = strnlen(cause, room - 2);
    memcpy(err->text + at, ": ", 2);
    memcpy(err->text + at + 2, cause, len);
    err->text[at + 2 + len] = '\0';
}

/* An input or policy that could not be read for lack of memory or descriptors is not a bad one: the status
 * is then that of an internal error. */
static int status_of(int exit, int sys)
{
    bool short_of = sys == ENOMEM || sys == EMFILE || sys == ENFILE;
    bool callers = exit == HC_EXIT_USAGE || exit == HC_EXIT_DATA || exit == HC_EXIT_CONFIG;
    return short_of && callers ? HC_EXIT_INTERNAL : exit;
}

static void record(struct hc_error *err, int exit, int sys, const char *fmt, va_list ap)
{
    err->exit = status_of(exit, sys);
    err->sys = sys;
    (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
    if (sys)
        append(err, strerror(sys));
    hc_plain_line(err->text); /* file names and programs hold anything; a record is one line */
}

void(hc_fail)(struct hc_error *err, int sys, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(err, HC_EXIT_INTERNAL, sys, fmt, ap);
    va_end(ap);
}

void(hc_fail_as)(struct hc_error *err, int exit, int sys, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(err, exit, sys, fmt, ap);
    va_end(ap);
}

void(hc_ctx)(struct hc_error *err, const char *fmt, ...)
{
    char cause[sizeof err->text];
    memcpy(cause, err->text, sizeof cause);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    append(err, cause);
    hc_plain_line(err->text);
}

void(hc_exit_as)(struct hc_error *err, int exit)
{
    err->exit = status_of(exit, err->sys);
}
