/* hold.h - holding a tenant: while an administrator holds it, its jobs wait. */
#ifndef HC_DAEMON_QUEUE_HOLD_H
#define HC_DAEMON_QUEUE_HOLD_H

#include "base/buf.h"
#include "daemon/tenants/tenant.h"

#define HC_HOLD_TEXT 384 /* bytes of hc_hold_text */

/* Hold the tenant, or release it (`by` NULL). If it is held already, its hold keeps the time when it began,
 * and gets the name and the reason of the new order. `now`: ms since 1970. */
void hc_hold_set(struct hc_tenant *t, const char *by, const char *reason, int64_t now);

/* Print "held since 2026-11-20T08:00:00Z by root: REASON" into `out`, which is returned; "" if the tenant is
 * not held. */
const char *hc_hold_text(const struct hc_tenant *t, char out[HC_HOLD_TEXT]);

/* Append the hold as JSON: {"by", "since", "reason"}, or null if the tenant is not held. */
void hc_hold_print(const struct hc_tenant *t, struct hc_buf *out);

#endif
