#include "daemon/tenants/bodies.h"

#include "daemon/tenants/tenant.h"

#include <sys/param.h>

bool hc_bodies_fit(const struct hc_bodies *b, const struct hc_bounds *bounds, int64_t mine, int64_t more)
{
    int64_t left = MAX(bounds->all, bounds->one) - (b->all - mine); /* by the others */
    return mine + more <= MIN(left, MAX(left / 2, bounds->one));
}

void hc_bodies_hold(struct hc_bodies *b, struct hc_tenant *t, int64_t bytes)
{
    b->all += bytes;
    t->bodies += bytes;
}

void hc_bodies_let_go(struct hc_bodies *b, struct hc_tenant *t, int64_t bytes)
{
    hc_bodies_hold(b, t, -bytes);
}
