/* Who asks: the tenant or the administrator that a request is from. */
#include "daemon/http/callers.h"

#include "daemon/http/e2b.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The tenant of the caller, by a token of its own or as a user of this host. */
static struct hc_tenant *find_tenant(const struct hc_exchange *x)
{
    static const char scheme[] = "Bearer ";
    struct hc_tenants *all = x->dispatch->tenants;
    const char *key = x->route->dialect ? hc_exchange_header(x, "X-API-Key") : NULL;
    if (key)
        return hc_tenant_of_token(all, key, strlen(key));
    const char *credentials = hc_exchange_header(x, "Authorization");
    if (!credentials)
        return x->connection->from.local ? hc_tenant_of_uid(all, x->connection->from.uid) : NULL;
    if (strncasecmp(credentials, scheme, sizeof scheme - 1) != 0)
        return NULL;
    const char *token = credentials + sizeof scheme - 1;
    return hc_tenant_of_token(all, token, strlen(token));
}

/* A connection counts for the first tenant that it speaks for. */
static bool count_connection(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_connection *c = x->connection;
    if (c->tenant)
        return true;
    if (t->connections >= x->dispatch->config.http_tenant_connections)
        return false;
    c->tenant = t;
    t->connections++;
    return true;
}

static void set_unknown_caller(const struct hc_exchange *x, struct hc_problem *why)
{
    const struct hc_connection *c = x->connection;
    const bool has_token =
        hc_exchange_header(x, "Authorization") || (x->route->dialect && hc_exchange_header(x, "X-API-Key"));
    if (c->from.local && !has_token)
        hc_problem_set(
            why, HC_PROBLEM_FORBIDDEN,
            "no tenant is configured for this user (uid %u): see tenants and local_users in hotcelld.conf(5)",
            c->from.uid);
    else if (x->route->dialect)
        hc_problem_set(why, HC_PROBLEM_UNKNOWN_USER, "a valid token is needed: X-API-Key: TOKEN");
    else
        hc_problem_set(why, HC_PROBLEM_UNKNOWN_USER, "a valid token is needed: Authorization: Bearer TOKEN");
}

static struct hc_tenant *identify(struct hc_exchange *x, struct hc_problem *why)
{
    const bool of_sandbox = x->route->dialect > HC_DIALECT_API;
    struct hc_tenant *t = of_sandbox ? hc_e2b_tenant(x, why) : find_tenant(x);
    if (!t && !of_sandbox)
        set_unknown_caller(x, why);
    else if (t && !count_connection(x, t)) {
        hc_problem_set(why, HC_PROBLEM_QUOTA,
                       "the tenant has %lld connections, and no more may be (http.tenant_connections)",
                       (long long)t->connections);
        why->quota = "connections";
        why->retry_after = 1;
        t = NULL;
    }
    return t;
}

/* Is the caller root, or the user who started the daemon? Both could also end the daemon, and need not be
 * tenants. */
static bool is_owner(const struct hc_exchange *x)
{
    const struct hc_origin *from = &x->connection->from;
    return from->local && (from->uid == 0 || from->uid == x->http->owner) &&
           !hc_exchange_header(x, "Authorization");
}

static bool identify_admin(struct hc_exchange *x, struct hc_problem *why)
{
    if (is_owner(x)) {
        const uid_t uid = x->connection->from.uid;
        (void)snprintf(x->admin, sizeof x->admin, uid ? "uid-%u" : "root", uid);
        return true;
    }
    const struct hc_tenant *t = identify(x, why);
    if (t && t->admin)
        (void)snprintf(x->admin, sizeof x->admin, "%s", t->name);
    else if (t)
        hc_problem_set(why, HC_PROBLEM_FORBIDDEN,
                       "this is for administrators: root and the daemon's user over the Unix socket, and "
                       "tenants with \"admin\" in hotcelld.conf(5)");
    return t && t->admin;
}

bool hc_caller_let_in(struct hc_exchange *x, struct hc_tenant **tenant, struct hc_problem *why)
{
    *tenant = NULL;
    switch (x->route->kind) {
    case HC_ROUTE_OPEN:
        return true;
    case HC_ROUTE_ADMIN:
    case HC_ROUTE_ORDER:
        return identify_admin(x, why);
    default:
        return (*tenant = identify(x, why)) != NULL;
    }
}
