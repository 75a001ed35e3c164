#include "daemon/tenants/request_memory.h"

#include "daemon/tenants/tenant.h"

#include <sys/param.h>

bool hc_request_memory_fit(const struct hc_request_memory *b, const struct hc_bounds *bounds, int64_t mine,
                           int64_t more)
{
    int64_t left = MAX(bounds->all, bounds->one) - (b->all - mine); /* bytes that other tenants do not use */
    return mine + more <= MIN(left, MAX(left / 2, bounds->one));
}

void hc_request_memory_hold(struct hc_request_memory *b, struct hc_tenant *t, int64_t bytes)
{
    b->all += bytes;
    t->request_bytes += bytes;
}

void hc_request_memory_let_go(struct hc_request_memory *b, struct hc_tenant *t, int64_t bytes)
{
    hc_request_memory_hold(b, t, -bytes);
}
