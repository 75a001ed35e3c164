/* probe.h - a hostile program in the shim's place, for tests: see probe.c. */
#ifndef PROBE_H
#define PROBE_H

#include "wire/frame.h"
#include "wire/handover.h"

#include <stddef.h>
#include <stdint.h>

/* ---- probe.c: what commands share ---- */

extern struct probe {
    const char *report, *own; /* the two filters of the handover */
    size_t report_len, own_len;
    const char *document; /* its JSON, not terminated */
    size_t document_len;
    int last;     /* the descriptor that was opened last */
    int listener; /* of a filter that was loaded last */
} probe;

/* One line of JSON on standard output. Values are numbers; an errno is negative. */
void say(const char *name, long long value);

/* A word of a script as a number: decimal, 0x.., or last, listener, self. */
long long number(const char *word);

/* Hex digits into at most `max` bytes; returns how many. */
size_t unhex(const char *digits, unsigned char *out, size_t max);

/* ---- channel.c: the control channel and the status socket ---- */

void do_frame(char *args);      /* TYPE [FLAGS]: without content */
void do_hex(char *args);        /* TYPE FLAGS HEX */
void do_text(char *args);       /* TYPE text up to the end of the line */
void do_head(char *args);       /* TYPE FLAGS ZERO LEN HEX: a header that need not be true */
void do_raw(char *args);        /* HEX: a packet */
void do_bytes(char *args);      /* TYPE FLAGS COUNT BYTE */
void do_pass(char *args);       /* TYPE FD...: with descriptors */
void do_pass_many(char *args);  /* TYPE COUNT FD */
void do_forge(char *args);      /* TYPE PID UID: with credentials */
void do_await(char *args);      /* wait for a packet, say its type */
void do_status(char *args);     /* CODE STATUS: an exit report */
void do_status_hex(char *args); /* HEX on the status socket */

/* ---- calls.c: system calls ---- */

void do_base(char *args);   /* A1 .. A6: the arguments of what follows; they begin as -1 */
void do_call(char *args);   /* NR A1 ..: those that are missing come from base */
void do_calls(char *args);  /* FROM TO: each number once, with the base arguments */
void do_vary(char *args);   /* NR INDEX VALUE...: one argument takes all these values */
void do_int80(char *args);  /* NR: as 32-bit programs call */
void do_report(char *args); /* [keep|silent]: load the reporting filter, hand its listener over */
void do_job(char *args);    /* load the job's filter */
void do_allow(char *args);  /* load a filter that allows everything */
void do_listen(char *args); /* NR: load a filter that asks about one call, keep its listener */

#endif
