/* start.h - takes an interpreter's process from the fork to the running interpreter, and reports its
 * failures. */
#ifndef HC_SHIM_START_H
#define HC_SHIM_START_H

#include "wire/handover.h"

#include <sys/types.h>

/* Write a line to standard error and end the process. The second is for a failure of the harness that came as
 * a Python exception, which it shows; `doing` says what failed. */
_Noreturn void hc_fail_shim(const struct hc_error *err);
_Noreturn void hc_fail_python(const char *doing);

/* Prepares this process, which `parent` has just forked: sets its name, begins a session of its own, and has
 * the kernel kill it when `parent` dies. */
void hc_start_process(pid_t parent, const char *name);

/* Tell the parts of a handover; the descriptor is closed. It stays mapped: the document's texts point into
 * it. */
int hc_start_read(int handover_fd, struct hc_handover *out, struct hc_error *err);

/* The reporting filter, and its listener to the launcher: before anything that comes from strangers is looked
 * at, see cell/filter.h. */
int hc_start_report(const struct hc_handover *h, struct hc_error *err);

/* The policy's rules, and an interpreter under them. Ends the process if that fails. */
void hc_start(const cJSON *job);

/* Of the handover's document. */
static inline const cJSON *hc_member(const cJSON *object, const char *key)
{
    return hc_json_member(object, key);
}

static inline const char *hc_text_of(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(hc_member(object, key));
    return text ? text : "";
}

static inline int64_t hc_number_of(const cJSON *object, const char *key)
{
    const cJSON *n = hc_member(object, key);
    return cJSON_IsNumber(n) && n->valuedouble > 0 ? (int64_t)n->valuedouble : 0;
}

#endif
