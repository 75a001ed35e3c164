/* request_memory.h - the memory of requests, from their first byte until their jobs have ended: it is bounded
 * in all, and divided among tenants. */
#ifndef HC_DAEMON_TENANTS_REQUEST_MEMORY_H
#define HC_DAEMON_TENANTS_REQUEST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct hc_request_memory {
    int64_t all; /* bytes held for all tenants; the bytes of each are in hc_tenant.request_bytes */
};

struct hc_bounds {
    int64_t all, one; /* most bytes of all requests together; most bytes of one body */
};

/* May a tenant that holds `mine` bytes have `more` bytes? A tenant may have half of the bytes that the other
 * tenants leave, so that they find room however much it sends; but it may always have one body, if there is
 * room for one. */
bool hc_request_memory_fit(const struct hc_request_memory *b, const struct hc_bounds *bounds, int64_t mine,
                           int64_t more);

struct hc_tenant;

/* Count `bytes` as held for the tenant; count them no longer. */
void hc_request_memory_hold(struct hc_request_memory *b, struct hc_tenant *t, int64_t bytes);
void hc_request_memory_let_go(struct hc_request_memory *b, struct hc_tenant *t, int64_t bytes);

#endif
