/* redact.h - what a policy's "redact" section does to text that leaves a cell: patterns are replaced, lines
 * like KEY=value lose their value, and what is left may be shortened.
 *
 * It keeps secrets that a program prints by mistake out of logs; against a program that means to tell, it is
 * no wall. Text comes in pieces of any size, and where it was cut makes no difference to what goes out. When
 * in doubt (a match longer than the window, a pattern that takes too long) text is withheld, never shown. */
#ifndef HC_POLICY_REDACT_H
#define HC_POLICY_REDACT_H

#include "json/json.h"

/* A policy's section, patterns compiled. Not changed after it is made. */
struct hc_redactor;

/* *out is NULL if `rules` (hc_rules_get's) ask for nothing. HC_EXIT_CONFIG for a pattern that is none: says
 * which, and at which offset. */
int hc_redactor_new(struct hc_redactor **out, const cJSON *rules, struct hc_error *err);
void hc_redactor_free(struct hc_redactor *r);

/* One text on its way. */
struct hc_redaction;

/* `shorten`: redact.max_chars applies. NULL without memory. The redactor is borrowed. */
struct hc_redaction *hc_redaction_new(const struct hc_redactor *r, bool shorten);
void hc_redaction_free(struct hc_redaction *x);

void hc_redaction_feed(struct hc_redaction *x, const char *text, size_t len, struct hc_buf *out);

/* The text has ended, or (`cut`) was cut here by someone, so that its last words may be half a secret.
 * Another text may follow. */
void hc_redaction_finish(struct hc_redaction *x, bool cut, struct hc_buf *out);

int64_t hc_redaction_count(const struct hc_redaction *x); /* replacements, dropped lines included */
bool hc_redaction_short(const struct hc_redaction *x);    /* redact.max_chars was reached */
bool hc_redaction_withheld(
    const struct hc_redaction *x); /* text was withheld because matching took too long */
bool hc_redaction_no_memory(const struct hc_redaction *x); /* text is missing */

/* Redact all strings of a JSON text, which must be valid; everything else stays as it was written. -1: no
 * memory. */
int hc_redaction_json(struct hc_redaction *x, const char *text, size_t len, struct hc_buf *out);

#endif
