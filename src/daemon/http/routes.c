/* The table of routes: which handler answers which request. */
#include "daemon/http/handlers.h"

#include "daemon/http/request.h"
#include "json/names.h"

#include <stdlib.h>
#include <string.h>

static const struct hc_route routes[] = {
    {"POST", "/v1/jobs", hc_post_job, .kind = HC_ROUTE_BODY},
    {"POST", "/run_code", hc_post_run_code, .kind = HC_ROUTE_BODY},
    {"POST", "/run_jupyter", hc_post_run_jupyter, .kind = HC_ROUTE_BODY},
    {"GET", "/v1/jobs", hc_list_jobs, .kind = HC_ROUTE_PLAIN, .query = "state status policy since number"},
    {"GET", "/v1/jobs/{id}", hc_get_job, .kind = HC_ROUTE_PLAIN},
    {"DELETE", "/v1/jobs/{id}", hc_delete_job, .kind = HC_ROUTE_PLAIN},
    {"POST", "/v1/jobs/{id}/cancel", hc_cancel_job, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/jobs/{id}/events", hc_get_events, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/jobs/{id}/files/{rest}", hc_get_file, .kind = HC_ROUTE_PLAIN},
    {"POST", "/v1/jobs/{id}/tools/{rest}", hc_answer_job_tool, .kind = HC_ROUTE_BODY},
    {"POST", "/v1/sessions", hc_post_session, .kind = HC_ROUTE_BODY},
    {"GET", "/v1/sessions", hc_list_sessions, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/sessions/{id}", hc_get_session, .kind = HC_ROUTE_PLAIN},
    {"DELETE", "/v1/sessions/{id}", hc_delete_session, .kind = HC_ROUTE_PLAIN},
    {"POST", "/v1/sessions/{id}/runs", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "run"},
    {"POST", "/v1/sessions/{id}/branches", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "branch",
     .member = "runs"},
    {"POST", "/v1/sessions/{id}/keep", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "keep",
     .member = "branch"},
    {"POST", "/v1/sessions/{id}/checkpoints", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "checkpoint",
     .member = "name", .in_context = true},
    {"POST", "/v1/sessions/{id}/rollback", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "rollback",
     .member = "name", .in_context = true},
    {"GET", "/v1/sessions/{id}/contexts", hc_list_contexts, .kind = HC_ROUTE_PLAIN},
    {"POST", "/v1/sessions/{id}/contexts", hc_post_context, .kind = HC_ROUTE_BODY},
    {"DELETE", "/v1/sessions/{id}/contexts/{context}", hc_change_context, .kind = HC_ROUTE_PLAIN,
     .ask = "end_context"},
    {"POST", "/v1/sessions/{id}/contexts/{context}/restart", hc_change_context, .kind = HC_ROUTE_PLAIN,
     .ask = "restart_context"},
    {"POST", "/v1/sessions/{id}/workdir/write", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "write_file",
     .silent = true},
    {"POST", "/v1/sessions/{id}/workdir/read", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "read_file",
     .silent = true},
    {"POST", "/v1/sessions/{id}/workdir/list", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "list_files",
     .silent = true},
    {"POST", "/v1/sessions/{id}/workdir/stat", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "stat_file",
     .silent = true},
    {"POST", "/v1/sessions/{id}/workdir/remove", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "remove_file",
     .silent = true},
    {"POST", "/v1/sessions/{id}/workdir/changes", hc_post_request, .kind = HC_ROUTE_BODY,
     .ask = "list_changes", .silent = true},
    {"POST", "/v1/sessions/{id}/workdir/make", hc_post_request, .kind = HC_ROUTE_BODY,
     .ask = "make_directory", .silent = true},
    {"POST", "/v1/sessions/{id}/workdir/move", hc_post_request, .kind = HC_ROUTE_BODY, .ask = "move_file",
     .silent = true},
    {"POST", "/v1/sessions/{id}/interrupt", hc_interrupt_session, .kind = HC_ROUTE_PLAIN},
    {"POST", "/v1/sessions/{id}/input", hc_post_session_input, .kind = HC_ROUTE_BODY},
    {"POST", "/v1/sessions/{id}/commands", hc_post_command, .kind = HC_ROUTE_BODY},
    {"GET", "/v1/sessions/{id}/commands", hc_list_commands, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/sessions/{id}/commands/{command}", hc_get_command, .kind = HC_ROUTE_PLAIN},
    {"DELETE", "/v1/sessions/{id}/commands/{command}", hc_delete_command, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/sessions/{id}/commands/{command}/events", hc_get_command_events, .kind = HC_ROUTE_PLAIN},
    {"POST", "/v1/sessions/{id}/commands/{command}/input", hc_post_command_input, .kind = HC_ROUTE_BODY},
    {"POST", "/v1/sessions/{id}/commands/{command}/signal", hc_post_command_signal, .kind = HC_ROUTE_BODY},
    {"POST", "/v1/sessions/{id}/tools/{rest}", hc_answer_session_tool, .kind = HC_ROUTE_BODY},
    {"GET", "/v1/sessions/{id}/files/{rest}", hc_get_session_file, .kind = HC_ROUTE_PLAIN},
    {"POST", "/v1/uploads", hc_post_upload, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/uploads", hc_list_uploads, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/uploads/{id}", hc_get_upload, .kind = HC_ROUTE_PLAIN},
    {"DELETE", "/v1/uploads/{id}", hc_delete_upload, .kind = HC_ROUTE_PLAIN},
    {"POST", "/v1/uploads/{id}/parts", hc_post_part, .kind = HC_ROUTE_PART, .query = "offset"},
    {"POST", "/v1/uploads/{id}/finish", hc_finish_upload, .kind = HC_ROUTE_BODY},
    {"GET", "/v1/volumes", hc_list_volumes, .kind = HC_ROUTE_PLAIN},
    {"DELETE", "/v1/volumes/{id}", hc_delete_volume, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/policies", hc_list_policies, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/policies/{id}", hc_get_policy, .kind = HC_ROUTE_PLAIN},
    {"GET", "/v1/card", hc_get_card, .kind = HC_ROUTE_PLAIN, .query = "policy"},
    {"POST", "/mcp", hc_post_mcp, .kind = HC_ROUTE_BODY, .query = "policy"},
    {"GET", "/mcp", hc_get_mcp, .kind = HC_ROUTE_PLAIN, .query = "policy"},
    {"DELETE", "/mcp", hc_delete_mcp, .kind = HC_ROUTE_PLAIN, .query = "policy"},
    {"GET", "/v1/admin/jobs", hc_admin_list_jobs, .kind = HC_ROUTE_ADMIN,
     .query = "tenant state status policy since number"},
    {"GET", "/v1/admin/jobs/{id}", hc_admin_get_job, .kind = HC_ROUTE_ADMIN},
    {"POST", "/v1/admin/jobs/{id}/cancel", hc_admin_cancel_job, .kind = HC_ROUTE_ORDER},
    {"GET", "/v1/admin/tenants", hc_admin_list_tenants, .kind = HC_ROUTE_ADMIN},
    {"POST", "/v1/admin/tenants/{id}/hold", hc_admin_hold, .kind = HC_ROUTE_ORDER},
    {"POST", "/v1/admin/tenants/{id}/release", hc_admin_hold, .kind = HC_ROUTE_ORDER, .undo = true},
    {"POST", "/v1/admin/drain", hc_admin_drain, .kind = HC_ROUTE_ORDER},
    {"POST", "/v1/admin/resume", hc_admin_drain, .kind = HC_ROUTE_ORDER, .undo = true},
    {"GET", "/v1/openapi.json", hc_get_openapi, .kind = HC_ROUTE_OPEN},
    {"GET", "/healthz", hc_get_health, .kind = HC_ROUTE_OPEN},
    {"GET", "/metrics", hc_get_metrics, .kind = HC_ROUTE_OPEN},
};

#define ROUTES (sizeof routes / sizeof *routes)

static int take_names(struct hc_exchange *x, const struct hc_path_parts *parts)
{
    if (parts->id && parts->id_len < sizeof x->id)
        memcpy(x->id, parts->id, parts->id_len);
    if (parts->id && !hc_is_id(x->id, sizeof x->id - 1))
        x->id[0] = '\0'; /* no job has so long an id */
    if (parts->part && parts->part_len < sizeof x->part)
        memcpy(x->part, parts->part, parts->part_len);
    if (parts->rest && !(x->rest = strdup(parts->rest)))
        return -1;
    return 0;
}

/* The methods of a path's routes, as the header Allow lists them. */
static const char *allowed_methods(bool get, bool post, bool delete)
{
    static const char *const lists[] = {
        NULL,     "GET, HEAD",         "POST",         "GET, HEAD, POST",
        "DELETE", "GET, HEAD, DELETE", "POST, DELETE", "GET, HEAD, POST, DELETE",
    };
    return lists[(get ? 1 : 0) + (post ? 2 : 0) + (delete ? 4 : 0)];
}

/* A search for the route of a request. */
struct search {
    const char *method, *path;  /* of the request; borrowed */
    struct hc_path_parts parts; /* parts of the path, of the route that was found */
    bool get, post, delete;     /* routes of the path with another method */
};

static const struct hc_route *find_in(struct search *s, const struct hc_route *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!hc_path_fits(table[i].path, s->path, &s->parts))
            continue;
        if (strcmp(table[i].method, s->method) == 0)
            return &table[i];
        s->get |= table[i].method[0] == 'G';
        s->post |= table[i].method[0] == 'P';
        s->delete |= table[i].method[0] == 'D';
    }
    return NULL;
}

const struct hc_route *hc_route_find(struct hc_exchange *x, const char *method, const char *path,
                                     struct hc_problem *why)
{
    struct search s = {.method = method, .path = path};
    const struct hc_route *found = find_in(&s, routes, ROUTES);
    if (!found && *x->dispatch->config.e2b_policy)
        found = find_in(&s, hc_e2b_routes.routes, hc_e2b_routes.count);
    if (found && take_names(x, &s.parts) == 0)
        return found;
    const char *allowed = allowed_methods(s.get, s.post, s.delete);
    if (found)
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
    else if (allowed)
        hc_problem_set(why, HC_PROBLEM_METHOD, "%.20s does not apply to %.200s", method, path);
    else
        hc_problem_set(why, HC_PROBLEM_NOT_FOUND, "there is nothing at %.200s; see /v1/openapi.json", path);
    why->allow = found ? NULL : allowed;
    return NULL;
}
