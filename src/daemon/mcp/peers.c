#include "daemon/mcp/peers.h"

#include "base/clock.h"
#include "base/log.h"
#include "cell/card.h"
#include "cell/policies.h"
#include "daemon/queue/maxima.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/random.h>

/* ms after which a peer that nothing is going on with makes room for another one of its tenant, if mcp.idle
 * is not less than twice as long */
#define YIELD_MS INT64_C(60000)

/* Is something of the peer going on? */
static bool is_busy(const struct hc_mcp_peer *p)
{
    for (size_t i = 0; i < HC_MCP_PLACES; i++)
        if (p->m.programs[i].run[0])
            return true;
    for (size_t i = 0; i < HC_MCP_SESSIONS; i++)
        if (p->m.sessions[i].id[0])
            return true;
    for (const struct hc_mcp_stream *s = p->streams; s; s = s->older)
        if (s->reader)
            return true;
    return false;
}

/* ---- begin ---- */

/* End the tenant's peer that was not used for longest, as many clients go without saying so. */
static void make_room(struct hc_mcp_peers *all, const struct hc_tenant *t)
{
    const struct hc_config *c = &all->dispatch->config;
    const int64_t grace = MIN(YIELD_MS, c->mcp_idle_ms / 2), before = hc_mono_ms() - grace;
    struct hc_mcp_peer *oldest = NULL;
    if (t->mcp_sessions < t->quota.mcp_sessions && all->count < c->mcp_sessions)
        return;
    for (struct hc_mcp_peer *p = all->newest; p; p = p->next)
        if (p->tenant == t && p->used < before && !is_busy(p) && (!oldest || p->used < oldest->used))
            oldest = p;
    if (oldest)
        hc_mcp_peer_end(oldest);
}

static bool has_room(struct hc_mcp_peers *all, const struct hc_tenant *t, struct hc_problem *why)
{
    make_room(all, t);
    const int64_t most = all->dispatch->config.mcp_sessions;
    if (t->mcp_sessions >= t->quota.mcp_sessions) {
        hc_problem_set(
            why, HC_PROBLEM_QUOTA,
            "the tenant has %lld sessions of MCP, and no more than %lld may be (quota mcp_sessions): "
            "end one with DELETE",
            (long long)t->mcp_sessions, (long long)t->quota.mcp_sessions);
        why->quota = "mcp_sessions";
        return false;
    }
    if (all->count < most)
        return true;
    hc_problem_set(why, HC_PROBLEM_BUSY,
                   "%lld sessions of MCP are open, and this daemon holds no more (mcp.sessions)",
                   (long long)all->count);
    why->retry_after = 5;
    return false;
}

/* The policy tells the client what programs may do, and how long they may take. */
static int read_policy(struct hc_mcp_peer *p, const char *name, struct hc_problem *why)
{
    struct hc_policy policy;
    struct hc_error err;
    size_t len;
    if (!*name || strlen(name) >= sizeof p->policy || strchr(name, '/') ||
        !hc_tenant_may_use(p->tenant, name)) {
        hc_problem_set(why, HC_PROBLEM_NOT_FOUND,
                       "there is no policy '%.100s' that this tenant may use: GET /v1/policies names those",
                       name);
        return -1;
    }
    if (hc_policy_load(&policy, name, hc_policies_read, NULL, &err) < 0) {
        hc_set_no_policy(why, HC_PROBLEM_NOT_FOUND, p->tenant, name, &err);
        return -1;
    }
    hc_policy_lower(&policy, &p->tenant->quota.max);
    (void)snprintf(p->policy, sizeof p->policy, "%s", name);
    p->m.timeout_ms = policy.limits.timeout_ms;
    p->m.commands = hc_policy_has_commands(&policy);
    FILE *out = open_memstream(&p->card, &len);
    int rc = out ? hc_card_print(&policy, false, out, &err) : hc_fail(&err, 0, "out of memory");
    if (out && fclose(out) != 0 && rc == 0)
        rc = hc_fail(&err, 0, "out of memory");
    p->session_card = hc_card_of_session(&policy);
    hc_policy_finish(&policy);
    if (rc < 0)
        hc_problem_set(why, err.exit == HC_EXIT_UNAVAILABLE ? HC_PROBLEM_HOST : HC_PROBLEM_INTERNAL, "%s",
                       err.text);
    p->m.card = p->card;
    p->m.session_card = p->session_card;
    return rc;
}

static int make_id(char id[HC_MCP_PEER_ID])
{
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -1;
    (void)snprintf(id, HC_MCP_PEER_ID, "%016llx%016llx", (unsigned long long)random[0],
                   (unsigned long long)random[1]);
    return 0;
}

static void free_peer(struct hc_mcp_peer *p)
{
    hc_mcp_streams_finish(p);
    hc_files_finish(&p->store);
    free(p->card);
    cJSON_Delete(p->session_card);
    free(p);
}

struct hc_mcp_peer *hc_mcp_peer_begin(struct hc_mcp_peers *all, struct hc_tenant *t, const char *policy,
                                      struct hc_problem *why)
{
    if (!hc_dispatch_takes_jobs(all->dispatch, why) || !has_room(all, t, why))
        return NULL;
    struct hc_mcp_peer *p = calloc(1, sizeof *p);
    if (!p) {
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        return NULL;
    }
    p->all = all;
    p->tenant = t;
    p->used = hc_mono_ms();
    p->m.host = &hc_mcp_daemon;
    p->m.jobs = HC_MCP_JOBS;
    p->m.store = &p->store;
    p->store.place = &hc_mcp_daemon_place;
    p->store.max = INT64_MAX; /* the tenant's quota stored_bytes holds */
    if (read_policy(p, policy ? policy : hc_tenant_policy(t), why) < 0) {
        free_peer(p);
        return NULL;
    }
    if (make_id(p->id) < 0 || !hc_mcp_stream_begin(p, "", true)) { /* stream 0 */
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        free_peer(p);
        return NULL;
    }
    p->next = all->newest;
    all->newest = p;
    all->count++;
    t->mcp_sessions++;
    return p;
}

struct hc_mcp_peer *hc_mcp_peer_find(struct hc_mcp_peers *all, const struct hc_tenant *t, const char *id)
{
    struct hc_mcp_peer *p = all->newest;
    while (p && (p->tenant != t || strcmp(p->id, id) != 0))
        p = p->next;
    return p;
}

/* ---- end ---- */

static void remove_written(struct hc_mcp_peer *p)
{
    struct hc_upload_store *uploads = &p->all->dispatch->uploads;
    struct hc_problem ignored;
    for (size_t i = 0; i < HC_UPLOADS_TENANT; i++) {
        struct hc_upload *u =
            *p->written[i].name ? hc_upload_find(uploads, p->tenant, p->written[i].id) : NULL;
        if (u)
            (void)hc_upload_remove(uploads, u, &ignored);
    }
}

void hc_mcp_peer_end(struct hc_mcp_peer *p)
{
    struct hc_mcp_peers *all = p->all;
    for (struct hc_mcp_peer **at = &all->newest; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    all->count--;
    p->tenant->mcp_sessions--;
    hc_programs_end(&p->m);
    hc_sessions_end(&p->m);
    remove_written(p);
    free_peer(p);
}

void hc_mcp_peers_finish(struct hc_mcp_peers *all)
{
    while (all->newest)
        hc_mcp_peer_end(all->newest);
}

/* ---- turns ---- */

static void tend(struct hc_mcp_peer *p)
{
    p->due = false;
    hc_programs_tend(&p->m);
    hc_sessions_tend(&p->m);
}

void hc_mcp_peers_run(struct hc_mcp_peers *all)
{
    while (all->due) {
        all->due = false;
        for (struct hc_mcp_peer *p = all->newest; p; p = p->next)
            if (p->due)
                tend(p);
    }
}

/* What the client wrote stays as long as the peer. */
static void use_written(struct hc_mcp_peer *p)
{
    for (size_t i = 0; i < HC_UPLOADS_TENANT; i++) {
        struct hc_upload *u = *p->written[i].name
                                  ? hc_upload_find(&p->all->dispatch->uploads, p->tenant, p->written[i].id)
                                  : NULL;
        if (u)
            u->used = hc_wall_ms();
    }
}

void hc_mcp_peers_sweep(struct hc_mcp_peers *all, int64_t now)
{
    for (struct hc_mcp_peer *p = all->newest, *next; p; p = next) {
        next = p->next;
        if (is_busy(p))
            p->used = now;
        if (p->tenant->removed || now - p->used > all->dispatch->config.mcp_idle_ms) {
            hc_mcp_peer_end(p);
            continue;
        }
        use_written(p);
        tend(p); /* messages of progress are due by the clock */
    }
}

void hc_mcp_peers_drain(struct hc_mcp_peers *all)
{
    for (struct hc_mcp_peer *p = all->newest; p; p = p->next)
        for (struct hc_mcp_stream *s = p->streams; s; s = s->older)
            if (!s->number && s->reader && !s->closed) {
                s->closed = true;
                s->reader->wake(s->reader);
            }
}

/* ---- names ---- */

const char *hc_mcp_name_find(const struct hc_mcp_peer *p, const char *run)
{
    for (size_t i = 0; i < HC_MCP_NAMES; i++)
        if (*run && strcmp(p->runs[i].name, run) == 0)
            return p->runs[i].id;
    return NULL;
}

void hc_mcp_name_note(struct hc_mcp_peer *p, const char *run, const char *id)
{
    for (size_t i = 0; i < HC_MCP_NAMES; i++) {
        if (*p->runs[i].name)
            continue;
        (void)snprintf(p->runs[i].name, sizeof p->runs[i].name, "%s", run);
        (void)snprintf(p->runs[i].id, sizeof p->runs[i].id, "%s", id);
        return;
    }
    hc_warn("mcp: no place for the name %s", run); /* not reached: there are fewer runs than places */
}
