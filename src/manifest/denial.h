/* denial.h - the actions of a job that were refused: the launcher collects them, the manifest lists them as
 * "denials". */
#ifndef HC_MANIFEST_DENIAL_H
#define HC_MANIFEST_DENIAL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HC_DENIALS_PER_SOURCE 64   /* most distinct denials of each source in the list */
#define HC_DENIAL_MESSAGE_MAX 4096 /* bytes of one HC_FRAME_DENIAL */

/* The part of hotcell that refused an action. Denials are attested if they come from the check of the program
 * before it ran, from the kernel, which asked the launcher, or from the launcher, which refused the call of a
 * tool. The guard's denials while the program ran are not: the guest's process reports them and may claim
 * anything; they share one allowance. In a process that has run other programs before, the denials of the
 * kernel and of tools do not tell which program was refused. */
enum hc_refuser {
#define HC_REFUSER_ROW(id, ...) HC_REFUSER_##id,
#include "manifest/denial.def"
    HC_REFUSERS
};

const char *hc_refuser_name(enum hc_refuser by); /* "ast", "runtime", "audit", "seccomp", "tool" */
bool hc_refuser_attested(enum hc_refuser by);    /* does a process outside of the program see its refusals? */

/* One denial. The rows of denial.def give the texts; an empty text is null in the manifest. */
struct hc_denial {
    enum hc_refuser by; /* the layer that refused the action */
#define HC_DENIAL_TEXT(member, bytes, ...) char member[bytes];
#include "manifest/denial.def"
    int line;      /* line of the program, from 1; 0: unknown */
    int64_t count; /* number of times that the action was refused */
};

/* The denials of a job, or of a session's run. A zero-initialised list is empty. */
struct hc_denials {
    struct hc_denial *items; /* the denials in the order of their first appearance; owned */
    size_t count;            /* number of `items` */
    bool more;               /* some denials are not listed */
    /* The process has run other programs before, whose threads and callbacks may still act in it. */
    bool shared;
};

/* Add a copy of a denial. If the list has one with the same layer, rule, what and line, the new count is
 * added to its count (`sum`) or replaces it. A new denial beyond the allowance of its source only sets
 * `more`. A text that was cut may end in half a character, which the manifest replaces. */
void hc_denials_note(struct hc_denials *list, const struct hc_denial *d, bool sum);

/* Is it certain that this program was refused this action: neither only a claim of its process, nor an action
 * that an earlier program may have left in the process? */
bool hc_denial_attested(const struct hc_denials *list, const struct hc_denial *d);
void hc_denials_finish(struct hc_denials *list);

/* Parse the payload of HC_FRAME_DENIAL, which is hostile text: an object with exactly the members that
 * denial.def lists as the guest's, of which "layer" is runtime or audit. Texts that do not fit are cut.
 * HC_EXIT_DATA. */
int hc_denial_parse(struct hc_denial *out, const char *text, size_t len, struct hc_error *err);

#endif
