/* hold.h - that an administrator holds a tenant: since when, who, and why. Its jobs wait meanwhile. */
#ifndef HC_DAEMON_QUEUE_HOLD_H
#define HC_DAEMON_QUEUE_HOLD_H

#include "base/buf.h"
#include "daemon/tenants/tenant.h"

#define HC_HOLD_TEXT 384 /* bytes of hc_hold_text */

/* Hold it, or let go of it (`by` NULL). One that is held already stays so since then: `by` and `reason` are
 * those of whoever has said so last. `now`: ms since 1970. */
void hc_hold_set(struct hc_tenant *t, const char *by, const char *reason, int64_t now);

/* "held since 2026-11-20T08:00:00Z by root: REASON"; "" if it is not. */
const char *hc_hold_text(const struct hc_tenant *t, char out[HC_HOLD_TEXT]);

/* {"by", "since", "reason"}, or null. */
void hc_hold_print(const struct hc_tenant *t, struct hc_buf *out);

#endif
