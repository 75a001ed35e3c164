/* denial.h - what a job was refused: collected by the launcher, shown in the manifest as "denials". */
#ifndef HC_MANIFEST_DENIAL_H
#define HC_MANIFEST_DENIAL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HC_DENIALS_PER_SOURCE 64   /* distinct ones that are listed of each source */
#define HC_DENIAL_MESSAGE_MAX 4096 /* bytes of one HC_FRAME_DENIAL */

/* Who refused. What the check of the program found (before any of it ran) and what the kernel asked the
 * launcher, and the calls of tools that the launcher refused, are attested; what the guard refused while the
 * program ran is told by the guest's process, which may say what it likes, and shares one allowance. Of a
 * process that has run other programs before, the kernel and the tools tell what was refused, not to which
 * program. */
enum hc_refuser {
#define HC_REFUSER_ROW(id, ...) HC_REFUSER_##id,
#include "manifest/denial.def"
    HC_REFUSERS
};

const char *hc_refuser_name(enum hc_refuser by); /* "ast", "runtime", "audit", "seccomp", "tool" */
bool hc_refuser_attested(enum hc_refuser by);

/* Texts as in denial.def; empty: null. */
struct hc_denial {
    enum hc_refuser by;
#define HC_DENIAL_TEXT(member, bytes, ...) char member[bytes];
#include "manifest/denial.def"
    int line; /* of the program; 0: unknown */
    int64_t count;
};

/* Zero-initialised is empty. */
struct hc_denials {
    struct hc_denial *items; /* owned, in the order of their first appearance */
    size_t count;
    bool more;   /* some were not listed */
    bool shared; /* the program's process has run others before: what it did may be what they left in it */
};

/* Note one. Where the layer, rule, what and line are known already, its count is added to theirs (`sum`) or
 * replaces it. A new one beyond the allowance of its source only sets `more`. Texts that were cut may end in
 * half a character; the manifest mends that. */
void hc_denials_note(struct hc_denials *list, const struct hc_denial *d, bool sum);

/* Is it certain that the program whose denials these are was refused this? */
bool hc_denial_attested(const struct hc_denials *list, const struct hc_denial *d);
void hc_denials_finish(struct hc_denials *list);

/* Read the payload of HC_FRAME_DENIAL, hostile text: an object of the members that denial.def lists as the
 * guest's, "layer" being runtime or audit, all of them and no other. Longer texts
 * than fit are cut. HC_EXIT_DATA. */
int hc_denial_parse(struct hc_denial *out, const char *text, size_t len, struct hc_error *err);

#endif
