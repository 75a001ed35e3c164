/* Which request is whose: one table. */
#include "daemon/http/handlers.h"

#include "daemon/http/request.h"
#include "json/names.h"

#include <stdlib.h>
#include <string.h>

static const struct hc_route routes[] = {
    {"POST", "/v1/jobs", hc_post_job, HC_ROUTE_BODY, NULL},
    {"GET", "/v1/jobs", hc_list_jobs, HC_ROUTE_PLAIN, "state status policy since number"},
    {"GET", "/v1/jobs/{id}", hc_get_job, HC_ROUTE_PLAIN, NULL},
    {"DELETE", "/v1/jobs/{id}", hc_delete_job, HC_ROUTE_PLAIN, NULL},
    {"POST", "/v1/jobs/{id}/cancel", hc_cancel_job, HC_ROUTE_PLAIN, NULL},
    {"GET", "/v1/jobs/{id}/events", hc_get_events, HC_ROUTE_PLAIN, NULL},
    {"GET", "/v1/jobs/{id}/files/{rest}", hc_get_file, HC_ROUTE_PLAIN, NULL},
    {"POST", "/v1/jobs/{id}/tools/{rest}", hc_answer_job_tool, HC_ROUTE_BODY, NULL},
    {"POST", "/v1/sessions", hc_post_session, HC_ROUTE_BODY, NULL},
    {"GET", "/v1/sessions", hc_list_sessions, HC_ROUTE_PLAIN, NULL},
    {"GET", "/v1/sessions/{id}", hc_get_session, HC_ROUTE_PLAIN, NULL},
    {"DELETE", "/v1/sessions/{id}", hc_delete_session, HC_ROUTE_PLAIN, NULL},
    {"POST", "/v1/sessions/{id}/runs", hc_post_run, HC_ROUTE_BODY, NULL},
    {"POST", "/v1/sessions/{id}/branches", hc_post_branches, HC_ROUTE_BODY, NULL},
    {"POST", "/v1/sessions/{id}/keep", hc_post_keep, HC_ROUTE_BODY, NULL},
    {"POST", "/v1/sessions/{id}/checkpoints", hc_post_checkpoint, HC_ROUTE_BODY, NULL},
    {"POST", "/v1/sessions/{id}/rollback", hc_post_rollback, HC_ROUTE_BODY, NULL},
    {"POST", "/v1/sessions/{id}/interrupt", hc_interrupt_session, HC_ROUTE_PLAIN, NULL},
    {"POST", "/v1/sessions/{id}/tools/{rest}", hc_answer_session_tool, HC_ROUTE_BODY, NULL},
    {"GET", "/v1/sessions/{id}/files/{rest}", hc_get_session_file, HC_ROUTE_PLAIN, NULL},
    {"GET", "/v1/policies", hc_list_policies, HC_ROUTE_PLAIN, NULL},
    {"GET", "/v1/policies/{id}", hc_get_policy, HC_ROUTE_PLAIN, NULL},
    {"GET", "/v1/card", hc_get_card, HC_ROUTE_PLAIN, "policy"},
    {"GET", "/v1/admin/jobs", hc_admin_list_jobs, HC_ROUTE_ADMIN, "tenant state status policy since number"},
    {"GET", "/v1/admin/jobs/{id}", hc_admin_get_job, HC_ROUTE_ADMIN, NULL},
    {"POST", "/v1/admin/jobs/{id}/cancel", hc_admin_cancel_job, HC_ROUTE_ORDER, NULL},
    {"GET", "/v1/admin/tenants", hc_admin_list_tenants, HC_ROUTE_ADMIN, NULL},
    {"POST", "/v1/admin/tenants/{id}/hold", hc_admin_hold, HC_ROUTE_ORDER, NULL},
    {"POST", "/v1/admin/tenants/{id}/release", hc_admin_release, HC_ROUTE_ORDER, NULL},
    {"POST", "/v1/admin/drain", hc_admin_drain, HC_ROUTE_ORDER, NULL},
    {"POST", "/v1/admin/resume", hc_admin_resume, HC_ROUTE_ORDER, NULL},
    {"GET", "/v1/openapi.json", hc_get_openapi, HC_ROUTE_OPEN, NULL},
    {"GET", "/healthz", hc_get_health, HC_ROUTE_OPEN, NULL},
    {"GET", "/metrics", hc_get_metrics, HC_ROUTE_OPEN, NULL},
};

#define ROUTES (sizeof routes / sizeof *routes)

static int take_names(struct hc_exchange *x, const struct hc_path_parts *parts)
{
    if (parts->id && parts->id_len < sizeof x->id)
        memcpy(x->id, parts->id, parts->id_len);
    if (parts->id && !hc_is_id(x->id, sizeof x->id - 1))
        x->id[0] = '\0'; /* no job is called so */
    if (parts->rest && !(x->rest = strdup(parts->rest)))
        return -1;
    return 0;
}

/* The methods of the routes that a path is of, as Allow has them. */
static const char *allowed_methods(bool get, bool post, bool delete)
{
    static const char *const lists[] = {
        NULL,     "GET, HEAD",         "POST",         "GET, HEAD, POST",
        "DELETE", "GET, HEAD, DELETE", "POST, DELETE", "GET, HEAD, POST, DELETE",
    };
    return lists[(get ? 1 : 0) + (post ? 2 : 0) + (delete ? 4 : 0)];
}

const struct hc_route *hc_route_find(struct hc_exchange *x, const char *method, const char *path,
                                     struct hc_problem *why)
{
    bool get = false, post = false, delete = false;
    for (size_t i = 0; i < ROUTES; i++) {
        struct hc_path_parts parts;
        if (!hc_path_fits(routes[i].path, path, &parts))
            continue;
        if (strcmp(routes[i].method, method) != 0) {
            get |= routes[i].method[0] == 'G';
            post |= routes[i].method[0] == 'P';
            delete |= routes[i].method[0] == 'D';
            continue;
        }
        if (take_names(x, &parts) == 0)
            return &routes[i];
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        return NULL;
    }
    const char *allowed = allowed_methods(get, post, delete);
    if (allowed)
        hc_problem_set(why, HC_PROBLEM_METHOD, "%.20s does not apply to %.200s", method, path);
    else
        hc_problem_set(why, HC_PROBLEM_NOT_FOUND, "there is nothing at %.200s; see /v1/openapi.json", path);
    why->allow = allowed;
    return NULL;
}
