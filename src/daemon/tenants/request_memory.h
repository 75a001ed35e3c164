/* request_memory.h - the memory that requests take, while they come and until what they asked for has ended:
 * bounded for all together, and shared out among tenants. */
#ifndef HC_DAEMON_TENANTS_REQUEST_MEMORY_H
#define HC_DAEMON_TENANTS_REQUEST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct hc_request_memory {
    int64_t all; /* bytes of all tenants; each one's are in hc_tenant.request_bytes */
};

struct hc_bounds {
    int64_t all, one; /* bytes that all requests may take together, and that one body may have */
};

/* May a tenant that holds `mine` have as much more? Not beyond half of what the others leave, so that they
 * find room however much one tenant sends; but one body at a time always, if there is room for it at all. */
bool hc_request_memory_fit(const struct hc_request_memory *b, const struct hc_bounds *bounds, int64_t mine,
                           int64_t more);

struct hc_tenant;

void hc_request_memory_hold(struct hc_request_memory *b, struct hc_tenant *t, int64_t bytes);
void hc_request_memory_let_go(struct hc_request_memory *b, struct hc_tenant *t, int64_t bytes);

#endif
