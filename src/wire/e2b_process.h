/* e2b_process.h - processes in E2B's sandboxes: translates calls of Connect into requests about the commands
 * beside a session's runs, and the events of such a command back. */
#ifndef HC_WIRE_E2B_PROCESS_H
#define HC_WIRE_E2B_PROCESS_H

#include "base/buf.h"
#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* What a call of Start asks for. */
struct hc_e2b_start {
    struct hc_buf spec; /* the spec of a command; owned */
    cJSON *argv;        /* its arguments, a list of strings; owned */
    bool keeps_stdin;   /* its standard input stays open */
};

/* HC_EXIT_DATA: the call is malformed; HC_EXIT_UNAVAILABLE: it asks for what is not to be had here. */
int hc_e2b_take_start(struct hc_e2b_start *s, const char *text, size_t len, struct hc_error *err);
void hc_e2b_start_finish(struct hc_e2b_start *s);

/* A call about one process. */
struct hc_e2b_about {
    int64_t pid;    /* number of the process in its cell */
    cJSON *members; /* those of the session's request: "data" or "signal"; owned */
};

/* As hc_e2b_take_start. */
int hc_e2b_take_about(struct hc_e2b_about *a, const char *text, size_t len, struct hc_error *err);

/* Append the JSON for a process that goes on; `argv`: its arguments, as JSON. */
void hc_e2b_put_process(int64_t pid, const char *argv, struct hc_buf *out);

/* Append the message that begins the stream of a process; one that tells that it is alive. */
void hc_e2b_put_started(int64_t pid, struct hc_buf *out);
void hc_e2b_put_alive(struct hc_buf *out);

/* Append the messages that one event of a command, one line of JSON, makes. True: it was the last. */
bool hc_e2b_process_event(const char *line, size_t len, struct hc_buf *out);

#endif
