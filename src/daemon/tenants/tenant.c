#include "daemon/tenants/tenant.h"

#include "base/units.h"

#include <errno.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>

struct tenant_uids {
    struct hc_uid_range range; /* uids of this host */
    struct hc_tenant *tenant;  /* the tenant of these users; borrowed, as in tenant_token */
};

struct tenant_token {
    char sha256[HC_SHA256_HEX]; /* hash of the token as a client sends it */
    struct hc_tenant *tenant;
};

/* The uids and tokens of tenants; a reload replaces the whole struct. */
struct identities {
    struct tenant_uids *uids;    /* owned */
    size_t uid_count;            /* number of `uids` */
    struct tenant_token *tokens; /* owned */
    size_t token_count;          /* number of `tokens` */
    int64_t local;               /* enum hc_local_users */
    bool open;                 /* a user of the host whom no tenant names may connect, and becomes a tenant */
    struct hc_quota quota;     /* quota of users without a tenant; `allowed` is theirs, too */
    struct hc_allowed allowed; /* owned */
};

struct hc_tenants {
    struct hc_tenant **all; /* owned, as is each tenant */
    size_t count, room;     /* number of tenants; number that `all` has room for */
    size_t present;         /* number of tenants among these that are not removed */
    struct identities who;  /* the uids and tokens in use */
};

int64_t hc_kib_seconds(int64_t bytes, int64_t ms)
{
    if (bytes <= 0 || ms <= 0)
        return 0;
    double product = (double)bytes / 1024 * (double)ms / 1000;
    if (product >= 0x1p62)
        return INT64_C(1) << 62;
    int64_t whole = (int64_t)product;
    return (double)whole < product ? whole + 1 : whole;
}

static int64_t slot_width(const struct hc_window *w)
{
    return w->width >= HC_WINDOW_SLOTS ? w->width / HC_WINDOW_SLOTS : 1;
}

/* One slot more than fits in a window: the oldest slot counts until its last millisecond has left the window.
 */
#define RING (HC_WINDOW_SLOTS + 1)

void hc_window_init(struct hc_window *w, int64_t width)
{
    *w = (struct hc_window){.width = width};
}

/* The slot's number, rounded down: usage from the ledger may be from before the caller's clock began. */
static int64_t slot_of(const struct hc_window *w, int64_t when)
{
    int64_t width = slot_width(w);
    return when / width - (when % width < 0);
}

static int64_t *place_of(struct hc_window *w, int64_t slot)
{
    return &w->slots[(slot % RING + RING) % RING];
}

static void advance_window(struct hc_window *w, int64_t slot)
{
    if (slot - w->newest >= RING) {
        memset(w->slots, 0, sizeof w->slots);
        w->newest = slot;
    }
    while (w->newest < slot)
        *place_of(w, ++w->newest) = 0;
}

void hc_window_add(struct hc_window *w, int64_t when, int64_t amount)
{
    int64_t slot = slot_of(w, when);
    advance_window(w, slot);
    if (w->newest - slot < RING)
        *place_of(w, slot) += amount;
}

int64_t hc_window_sum(struct hc_window *w, int64_t now)
{
    int64_t sum = 0;
    advance_window(w, slot_of(w, now));
    for (size_t i = 0; i < RING; i++)
        sum += w->slots[i];
    return sum;
}

int64_t hc_window_wait(struct hc_window *w, int64_t now, int64_t most)
{
    int64_t left = hc_window_sum(w, now), width = slot_width(w);
    for (int64_t slot = w->newest - HC_WINDOW_SLOTS; slot <= w->newest; slot++) {
        if (left < most)
            return 0;
        left -= *place_of(w, slot);
        if (left < most)
            return (slot + RING) * width - now;
    }
    return left < most ? 0 : w->width;
}

static void identities_finish(struct identities *who)
{
    free(who->uids);
    free(who->tokens);
    hc_allowed_finish(&who->allowed);
    *who = (struct identities){0};
}

static void tenant_destroy(struct hc_tenant *t)
{
    if (t)
        hc_allowed_finish(&t->allowed);
    free(t);
}

void hc_tenants_destroy(struct hc_tenants *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++)
        tenant_destroy(t->all[i]);
    free(t->all);
    identities_finish(&t->who);
    free(t);
}

static struct hc_tenant *find_tenant(const struct hc_tenants *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->all[i]->name, name) == 0)
            return t->all[i];
    return NULL;
}

static struct hc_tenant *add_tenant(struct hc_tenants *t, const char *name, const struct hc_quota *quota)
{
    if (t->count == t->room) {
        size_t room = t->room ? t->room * 2 : 16;
        void *grown = realloc(t->all, room * sizeof(struct hc_tenant *));
        if (!grown)
            return NULL;
        t->all = grown;
        t->room = room;
    }
    struct hc_tenant *new = calloc(1, sizeof *new);
    if (!new)
        return NULL;
    (void)snprintf(new->name, sizeof new->name, "%s", name);
    new->quota = *quota;
    hc_window_init(&new->cpu_us, quota->window_ms);
    hc_window_init(&new->kib_s, quota->window_ms);
    return t->all[t->count++] = new;
}

/* All memory that a reload needs, allocated before anything changes. */
struct reload {
    struct identities who;      /* the new uids and tokens */
    struct hc_allowed *allowed; /* new rights, one for each tenant, in the order of the tenants */
    size_t allowed_count;       /* number of `allowed` */
};

static void reload_finish(struct reload *r)
{
    for (size_t i = 0; i < r->allowed_count; i++)
        hc_allowed_finish(&r->allowed[i]);
    free(r->allowed);
    identities_finish(&r->who);
}

static int make_uids(struct hc_tenants *t, const struct hc_config *c, struct identities *who,
                     struct hc_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < c->tenant_count; i++)
        count += c->tenants[i].uid_count;
    if (!(who->uids = calloc(count + 1, sizeof *who->uids)))
        return hc_fail(err, ENOMEM, "tenants");
    for (size_t i = 0; i < c->tenant_count; i++)
        for (size_t k = 0; k < c->tenants[i].uid_count; k++)
            who->uids[who->uid_count++] =
                (struct tenant_uids){c->tenants[i].uids[k], find_tenant(t, c->tenants[i].name)};
    return 0;
}

static int make_tokens(struct hc_tenants *t, const struct hc_config *c, struct identities *who,
                       struct hc_error *err)
{
    if (!(who->tokens = calloc(c->token_count + 1, sizeof *who->tokens)))
        return hc_fail(err, ENOMEM, "tenants");
    for (size_t i = 0; i < c->token_count; i++) {
        struct tenant_token *token = &who->tokens[who->token_count++];
        memcpy(token->sha256, c->tokens[i].sha256, sizeof token->sha256);
        token->tenant = find_tenant(t, c->tokens[i].tenant);
    }
    return 0;
}

static const struct hc_tenant_rule *rule_of(const struct hc_config *c, const char *name)
{
    for (size_t i = 0; i < c->tenant_count; i++)
        if (strcmp(c->tenants[i].name, name) == 0)
            return &c->tenants[i];
    return NULL;
}

static int make_allowed(struct hc_tenants *t, const struct hc_config *c, struct reload *r,
                        struct hc_error *err)
{
    if (!(r->allowed = calloc(t->count + 1, sizeof *r->allowed)))
        return hc_fail(err, ENOMEM, "tenants");
    for (size_t i = 0; i < t->count; i++) {
        const struct hc_tenant_rule *rule = rule_of(c, t->all[i]->name);
        r->allowed_count++;
        if (hc_allowed_copy(&r->allowed[i], rule ? &rule->allowed : &c->allowed, err) < 0)
            return -1;
    }
    return hc_allowed_copy(&r->who.allowed, &c->allowed, err);
}

/* Adds the new tenants already; until commit_reload no uid and no token leads to them. */
static int prepare_reload(struct hc_tenants *t, const struct hc_config *c, struct reload *r,
                          struct hc_error *err)
{
    for (size_t i = 0; i < c->tenant_count; i++) {
        const struct hc_tenant_rule *rule = &c->tenants[i];
        if (!find_tenant(t, rule->name) && !add_tenant(t, rule->name, &rule->quota))
            return hc_fail(err, ENOMEM, "tenants");
    }
    r->who.local = c->local;
    r->who.quota = c->quota;
    if (make_allowed(t, c, r, err) < 0 || make_uids(t, c, &r->who, err) < 0)
        return -1;
    return make_tokens(t, c, &r->who, err);
}

/* Changes a window's width. Its sum is kept, as an amount used now. */
static void resize_window(struct hc_window *w, int64_t width)
{
    if (w->width == width)
        return;
    int64_t now = w->newest * slot_width(w), sum = hc_window_sum(w, now);
    hc_window_init(w, width);
    hc_window_add(w, now, sum);
}

static void set_quota(struct hc_tenant *tenant, const struct hc_quota *quota)
{
    tenant->quota = *quota;
    resize_window(&tenant->cpu_us, quota->window_ms);
    resize_window(&tenant->kib_s, quota->window_ms);
}

static void commit_reload(struct hc_tenants *t, const struct hc_config *c, struct reload *r)
{
    t->present = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct hc_tenant *tenant = t->all[i];
        const struct hc_tenant_rule *rule = rule_of(c, tenant->name);
        struct hc_allowed old = tenant->allowed;
        set_quota(tenant, rule ? &rule->quota : &c->quota);
        tenant->removed = !rule && (c->local == HC_LOCAL_NONE || !hc_is_uid_tenant(tenant->name));
        tenant->admin = rule && rule->admin;
        t->present += !tenant->removed;
        tenant->allowed = r->allowed[i];
        r->allowed[i] = old;
    }
    struct identities old = t->who;
    t->who = r->who;
    r->who = old;
}

int hc_tenants_reload(struct hc_tenants *t, const struct hc_config *c, struct hc_error *err)
{
    struct reload r = {0};
    int rc = prepare_reload(t, c, &r, err);
    if (rc == 0)
        commit_reload(t, c, &r);
    reload_finish(&r);
    return rc;
}

int hc_tenants_create(struct hc_tenants **out, const struct hc_config *c, struct hc_error *err)
{
    struct hc_tenants *t = calloc(1, sizeof *t);
    if (!t)
        return hc_fail(err, ENOMEM, "tenants");
    if (hc_tenants_reload(t, c, err) < 0) {
        hc_tenants_destroy(t);
        return -1;
    }
    *out = t;
    return 0;
}

/* Adds a tenant that the configuration does not name. */
static struct hc_tenant *add_unnamed(struct hc_tenants *t, const char *name)
{
    struct hc_error ignored;
    struct hc_allowed allowed;
    if (hc_allowed_copy(&allowed, &t->who.allowed, &ignored) < 0)
        return NULL;
    struct hc_tenant *new = add_tenant(t, name, &t->who.quota);
    if (!new) {
        hc_allowed_finish(&allowed);
        return NULL;
    }
    new->allowed = allowed;
    new->removed = t->who.local == HC_LOCAL_NONE || !hc_is_uid_tenant(name);
    t->present += !new->removed;
    return new;
}

struct hc_tenant *hc_tenant_by_name(struct hc_tenants *t, const char *name)
{
    struct hc_tenant *known = find_tenant(t, name);
    return known ? known : add_unnamed(t, name);
}

struct hc_tenant *hc_tenant_of_uid(struct hc_tenants *t, uid_t uid)
{
    for (size_t i = 0; i < t->who.uid_count; i++) {
        const struct tenant_uids *u = &t->who.uids[i];
        if (uid >= u->range.first && uid <= u->range.last)
            return u->tenant;
    }
    if (t->who.local == HC_LOCAL_NONE)
        return NULL;
    char name[HC_TENANT_NAME];
    (void)snprintf(name, sizeof name, "uid-%u", uid);
    return hc_tenant_by_name(t, name);
}

struct hc_tenant *hc_tenant_of_token(struct hc_tenants *t, const char *token, size_t len)
{
    char sha256[HC_SHA256_HEX];
    struct hc_tenant *found = NULL;
    hc_sha256_hex(token, len, sha256);
    /* The token is compared with all tokens, so that the time does not tell which one it is. */
    for (size_t i = 0; i < t->who.token_count; i++)
        if (hc_digest_equal(t->who.tokens[i].sha256, sha256))
            found = t->who.tokens[i].tenant;
    sodium_memzero(sha256, sizeof sha256);
    return found;
}

struct hc_tenant *hc_tenant_at(struct hc_tenants *t, size_t index)
{
    return index < t->count ? t->all[index] : NULL;
}

bool hc_tenants_are_many(const struct hc_tenants *t, bool open)
{
    return (open && t->who.local == HC_LOCAL_OWN) || t->present > 1;
}

static bool is_allowed(char **names, const char *name)
{
    if (!names)
        return true;
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

bool hc_tenant_may_use(const struct hc_tenant *t, const char *policy)
{
    return is_allowed(t->allowed.policies, policy);
}

bool hc_tenant_may_use_tree(const struct hc_tenant *t, const char *tree)
{
    return is_allowed(t->allowed.trees, tree);
}

const char *hc_tenant_policy(const struct hc_tenant *t)
{
    static const char usual[] = "default";
    if (*t->quota.policy)
        return t->quota.policy;
    return hc_tenant_may_use(t, usual) || !t->allowed.policies[0] ? usual : t->allowed.policies[0];
}

void hc_tenant_charge(struct hc_tenant *t, const struct hc_usage *used, int64_t now)
{
    hc_window_add(&t->cpu_us, now, used->cpu_us);
    hc_window_add(&t->kib_s, now, used->kib_s);
    t->stored_bytes += used->bytes;
}

static bool is_within_quota(struct hc_window *w, const char *quota, int64_t most, int64_t now,
                            struct hc_refusal *why)
{
    if (most <= 0 || hc_window_sum(w, now) < most)
        return true;
    why->quota = quota;
    why->retry_ms = hc_window_wait(w, now, most);
    char width[32];
    (void)snprintf(why->text, sizeof why->text, "what the tenant may use in %s is used up (quota %s)",
                   hc_format_duration(w->width, width, sizeof width), quota);
    return false;
}

bool hc_tenant_has_time(struct hc_tenant *t, int64_t now, struct hc_refusal *why)
{
    /* The quota is in thousandths of GB-seconds. Large numbers are divided before they are multiplied, as the
     * product would overflow. */
    int64_t kib_s = t->quota.gb_s_milli > INT64_MAX / HC_KIB_S_PER_GB
                        ? t->quota.gb_s_milli / 1000 * HC_KIB_S_PER_GB
                        : t->quota.gb_s_milli * HC_KIB_S_PER_GB / 1000;
    return is_within_quota(&t->cpu_us, "cpu_seconds", t->quota.cpu_ms * 1000, now, why) &&
           is_within_quota(&t->kib_s, "gb_seconds", kib_s, now, why);
}

bool hc_tenant_has_budget(struct hc_tenant *t, int64_t now, struct hc_refusal *why)
{
    if (!hc_tenant_has_time(t, now, why))
        return false;
    if (t->quota.stored_bytes <= 0 || t->stored_bytes < t->quota.stored_bytes)
        return true;
    *why = (struct hc_refusal){.quota = "stored_bytes", .retry_ms = -1};
    char most[32];
    (void)snprintf(
        why->text, sizeof why->text,
        "the tenant's results fill the %s that may be stored (quota stored_bytes): delete some jobs "
        "(DELETE /v1/jobs/ID)",
        hc_format_size(t->quota.stored_bytes, most, sizeof most));
    return false;
}
