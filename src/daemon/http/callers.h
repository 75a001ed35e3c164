/* callers.h - who asks: the tenant or the administrator that a request is from. */
#ifndef HC_DAEMON_HTTP_CALLERS_H
#define HC_DAEMON_HTTP_CALLERS_H

#include "daemon/http/http.h"

/* May the caller use the exchange's route at all? `*tenant`: the caller's tenant, on routes for tenants; else
 * NULL. False: no; `why` says why. */
bool hc_caller_let_in(struct hc_exchange *x, struct hc_tenant **tenant, struct hc_problem *why);

#endif
