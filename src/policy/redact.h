/* redact.h - apply a policy's "redact" section to text that leaves a cell: matches of patterns are replaced,
 * lines like KEY=value lose their value, and the rest may be shortened.
 *
 * It keeps secrets that a program prints by mistake out of logs; a program that wants to give a secret away
 * can still do so. Text comes in pieces of any size; where one piece ends makes no difference to the result.
 * Text that cannot be judged (a match longer than the window, a pattern that takes too long) is withheld. */
#ifndef HC_POLICY_REDACT_H
#define HC_POLICY_REDACT_H

#include "json/json.h"

/* The "redact" section of a policy with its patterns compiled. It does not change after it is made. */
struct hc_redactor;

/* Make a redactor of the rules of a policy (hc_policy.rules). *out is NULL if they ask for no redaction. -1:
 * HC_EXIT_CONFIG for a pattern that PCRE2 does not take; the message has the pattern and the offset of the
 * fault in it. */
int hc_redactor_new(struct hc_redactor **out, const cJSON *rules, struct hc_error *err);
void hc_redactor_free(struct hc_redactor *r);

/* The state of redacting one text, for example of one output stream. */
struct hc_redaction;

/* Begin to redact a text by this redactor, which is borrowed. `shorten`: redact.max_chars applies. NULL: no
 * memory. */
struct hc_redaction *hc_redaction_new(const struct hc_redactor *r, bool shorten);
void hc_redaction_free(struct hc_redaction *x);

/* Takes the next piece of the text, and appends to `out` the redacted text that is certain by now. */
void hc_redaction_feed(struct hc_redaction *x, const char *text, size_t len, struct hc_buf *out);

/* Appends the rest to `out`. `cut`: the text did not end here but was cut, so that its last words may be half
 * a secret. Another text may be fed afterwards. */
void hc_redaction_finish(struct hc_redaction *x, bool cut, struct hc_buf *out);

int64_t hc_redaction_count(const struct hc_redaction *x); /* number of replacements, and of dropped lines */
bool hc_redaction_short(const struct hc_redaction *x);    /* redact.max_chars was reached */
bool hc_redaction_withheld(const struct hc_redaction *x); /* some text was withheld: matching took too long */
bool hc_redaction_no_memory(const struct hc_redaction *x); /* some text is missing: no memory */

/* Redacts all strings of a valid JSON text; its other bytes stay as they are. -1: no memory. */
int hc_redaction_json(struct hc_redaction *x, const char *text, size_t len, struct hc_buf *out);

#endif
