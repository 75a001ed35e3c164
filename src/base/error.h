/* error.h - an error record: which task failed, why, and with which exit status the program ends.
 *
 * A function that can fail returns 0 or -1 and fills a struct hc_error. The cause is recorded once, where
 * it happened (hc_fail); each module border adds one phrase in front (hc_ctx). The record has a fixed size
 * and holds no pointers: it is usable after fork, under a memory limit, and one write carries it through a
 * pipe. */
#ifndef HC_BASE_ERROR_H
#define HC_BASE_ERROR_H

#include <stddef.h>

/* Exit statuses of every hotcell program (sysexits.h where it has a fitting one). */
enum hc_exit {
    HC_EXIT_OK = 0,           /* the program did what it was asked to */
    HC_EXIT_GUEST = 1,        /* the guest's code failed */
    HC_EXIT_REJECTED = 2,     /* the guest's code was rejected before it ran */
    HC_EXIT_LIMIT = 3,        /* a limit ended the guest's code */
    HC_EXIT_USAGE = 64,       /* EX_USAGE: the command line is wrong */
    HC_EXIT_DATA = 65,        /* EX_DATAERR: bad input data */
    HC_EXIT_UNAVAILABLE = 69, /* EX_UNAVAILABLE: this host cannot give the isolation asked for */
    HC_EXIT_INTERNAL = 70,    /* EX_SOFTWARE: hotcell or the host failed */
    HC_EXIT_CONFIG = 78,      /* EX_CONFIG: bad policy or configuration */
};

struct hc_error {
    int exit;       /* enum hc_exit that the program should end with; never HC_EXIT_OK once set */
    int sys;        /* errno of the cause, 0 if none */
    char text[752]; /* one line, no newline, NUL-terminated */
};

/* Record a cause. `sys` is an errno value or 0; its strerror is appended. All four functions evaluate to
 * -1 (see below). hc_fail uses HC_EXIT_INTERNAL; hc_fail_as names the status, which becomes
 * HC_EXIT_INTERNAL if the cause is that the host is out of memory or descriptors. */
void hc_fail(struct hc_error *err, int sys, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void hc_fail_as(struct hc_error *err, int exit, int sys, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Put a phrase in front of the text: "phrase: text". */
void hc_ctx(struct hc_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Keep the text and change the exit status that goes with it. */
void hc_exit_as(struct hc_error *err, int exit);

/* Macros, so that the compiler and a reader of `return hc_fail(...)` see that the value is -1. */
#define hc_fail(...)    (hc_fail(__VA_ARGS__), -1)
#define hc_fail_as(...) (hc_fail_as(__VA_ARGS__), -1)
#define hc_ctx(...)     (hc_ctx(__VA_ARGS__), -1)
#define hc_exit_as(...) (hc_exit_as(__VA_ARGS__), -1)

#endif
