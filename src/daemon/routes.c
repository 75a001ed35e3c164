/* Which request is whose: one table, matched piece by piece. */
#include "daemon/handlers.h"

#include "spec/names.h"

#include <stdlib.h>
#include <string.h>

static const struct hc_route routes[] = {
    {"POST", "/v1/jobs", hc_post_job, HC_ROUTE_BODY},
    {"GET", "/v1/jobs", hc_list_jobs, HC_ROUTE_PLAIN},
    {"GET", "/v1/jobs/{id}", hc_get_job, HC_ROUTE_PLAIN},
    {"DELETE", "/v1/jobs/{id}", hc_delete_job, HC_ROUTE_PLAIN},
    {"POST", "/v1/jobs/{id}/cancel", hc_cancel_job, HC_ROUTE_PLAIN},
    {"GET", "/v1/jobs/{id}/events", hc_get_events, HC_ROUTE_PLAIN},
    {"GET", "/v1/jobs/{id}/files/{rest}", hc_get_file, HC_ROUTE_PLAIN},
    {"POST", "/v1/jobs/{id}/tools/{rest}", hc_answer_job_tool, HC_ROUTE_BODY},
    {"POST", "/v1/sessions", hc_post_session, HC_ROUTE_BODY},
    {"GET", "/v1/sessions", hc_list_sessions, HC_ROUTE_PLAIN},
    {"GET", "/v1/sessions/{id}", hc_get_session, HC_ROUTE_PLAIN},
    {"DELETE", "/v1/sessions/{id}", hc_delete_session, HC_ROUTE_PLAIN},
    {"POST", "/v1/sessions/{id}/runs", hc_post_run, HC_ROUTE_BODY},
    {"POST", "/v1/sessions/{id}/branches", hc_post_branches, HC_ROUTE_BODY},
    {"POST", "/v1/sessions/{id}/keep", hc_post_keep, HC_ROUTE_BODY},
    {"POST", "/v1/sessions/{id}/checkpoints", hc_post_checkpoint, HC_ROUTE_BODY},
    {"POST", "/v1/sessions/{id}/rollback", hc_post_rollback, HC_ROUTE_BODY},
    {"POST", "/v1/sessions/{id}/interrupt", hc_interrupt_session, HC_ROUTE_PLAIN},
    {"POST", "/v1/sessions/{id}/tools/{rest}", hc_answer_session_tool, HC_ROUTE_BODY},
    {"GET", "/v1/sessions/{id}/files/{rest}", hc_get_session_file, HC_ROUTE_PLAIN},
    {"GET", "/v1/policies", hc_list_policies, HC_ROUTE_PLAIN},
    {"GET", "/v1/policies/{id}", hc_get_policy, HC_ROUTE_PLAIN},
    {"GET", "/v1/card", hc_get_card, HC_ROUTE_PLAIN},
    {"GET", "/v1/openapi.json", hc_get_openapi, HC_ROUTE_OPEN},
    {"GET", "/healthz", hc_get_health, HC_ROUTE_OPEN},
    {"GET", "/metrics", hc_get_metrics, HC_ROUTE_PLAIN},
};

#define ROUTES (sizeof routes / sizeof *routes)

/* Up to the next slash, or all of it. */
static size_t piece(const char *path)
{
    return strcspn(path, "/");
}

/* What stood for "{id}" and "{rest}" is told; NULL if it does not match. */
static bool matches(const char *pattern, const char *path, const char **id, size_t *id_len, const char **rest)
{
    while (*pattern == '/' && *path == '/') {
        pattern++;
        path++;
        size_t p = piece(pattern), n = piece(path);
        if (strncmp(pattern, "{rest}", p) == 0 && *path) {
            *rest = path;
            return true;
        }
        if (p == 4 && strncmp(pattern, "{id}", p) == 0 && n > 0) {
            *id = path;
            *id_len = n;
        } else if (p != n || strncmp(pattern, path, n) != 0) {
            return false;
        }
        pattern += p;
        path += n;
    }
    return !*pattern && !*path;
}

static int take_names(struct hc_exchange *x, const char *id, size_t id_len, const char *rest)
{
    if (id && id_len < sizeof x->id)
        memcpy(x->id, id, id_len);
    if (id && !hc_is_id(x->id, sizeof x->id - 1))
        x->id[0] = '\0'; /* no job is called so */
    if (rest && !(x->rest = strdup(rest)))
        return -1;
    return 0;
}

const struct hc_route *hc_route_find(struct hc_exchange *x, const char *method, const char *path,
                                     struct hc_problem *why)
{
    const char *allowed = NULL;
    for (size_t i = 0; i < ROUTES; i++) {
        const char *id = NULL, *rest = NULL;
        size_t id_len = 0;
        if (!matches(routes[i].path, path, &id, &id_len, &rest))
            continue;
        if (strcmp(routes[i].method, method) != 0) {
            allowed =
                allowed && strcmp(allowed, routes[i].method) != 0 ? "GET, POST, DELETE" : routes[i].method;
            continue;
        }
        if (take_names(x, id, id_len, rest) == 0)
            return &routes[i];
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        return NULL;
    }
    if (allowed)
        hc_problem_set(why, HC_PROBLEM_METHOD, "%.20s does not apply to %.200s", method, path);
    else
        hc_problem_set(why, HC_PROBLEM_NOT_FOUND, "there is nothing at %.200s; see /v1/openapi.json", path);
    why->allow = allowed;
    return NULL;
}
