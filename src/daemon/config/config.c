#include "daemon/config/config.h"

#include "json/names.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Most entries of each list: more are a mistake, and would make checks of all pairs slow. */
#define MAX_LISTEN  64   /* entries of "listen" */
#define MAX_TENANTS 4096 /* entries of "tenants" */
#define MAX_UIDS    64   /* ranges of uids of one tenant */
#define MAX_ALLOWED 256  /* names of policies, and names of trees */

static void init_record(void *record, const struct hc_config_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        hc_option_init(record, &table->rows[i]);
}

void hc_config_init(struct hc_config *c)
{
    *c = (struct hc_config){0};
    init_record(c, &hc_config_options);
    init_record(&c->quota, &hc_quota_options);
    hc_maxima_init(&c->quota.max);
}

static void free_names(char **names)
{
    for (char **n = names; n && *n; n++)
        free(*n);
    free(names);
}

static int copy_names(char ***out, char **names, struct hc_error *err)
{
    size_t n = 0;
    *out = NULL;
    while (names && names[n])
        n++;
    if (names && !(*out = calloc(n + 1, sizeof **out)))
        return hc_fail(err, ENOMEM, "names of policies and trees");
    for (size_t i = 0; i < n; i++) {
        if (((*out)[i] = strdup(names[i])))
            continue;
        free_names(*out);
        *out = NULL;
        return hc_fail(err, ENOMEM, "names of policies and trees");
    }
    return 0;
}

int hc_allowed_copy(struct hc_allowed *out, const struct hc_allowed *from, struct hc_error *err)
{
    *out = (struct hc_allowed){0};
    if (copy_names(&out->policies, from->policies, err) == 0 &&
        copy_names(&out->trees, from->trees, err) == 0)
        return 0;
    hc_allowed_finish(out);
    return -1;
}

void hc_allowed_finish(struct hc_allowed *a)
{
    free_names(a->policies);
    free_names(a->trees);
    *a = (struct hc_allowed){0};
}

void hc_config_finish(struct hc_config *c)
{
    for (size_t i = 0; i < c->tenant_count; i++) {
        free(c->tenants[i].uids);
        hc_allowed_finish(&c->tenants[i].allowed);
    }
    free(c->tenants);
    free(c->listen);
    free(c->tokens);
    hc_allowed_finish(&c->allowed);
    *c = (struct hc_config){0};
}

/* One configuration file that is being read into the struct. */
struct file {
    struct hc_config *config;   /* receives what the file says; borrowed, as is `json` */
    const struct hc_json *json; /* the file's document */
    size_t uid_count;           /* ranges of uids of all tenants so far */
};

typedef int setter(struct file *f, const cJSON *node, struct hc_error *err);

/* A member whose value is a list or an object. */
struct member {
    const char *path; /* its place in the file: "listen" */
    setter *set;      /* reads its value into f->config */
};

static int wrong_type(const struct file *f, const cJSON *node, const char *name, const char *what,
                      struct hc_error *err)
{
    return hc_json_fail(f->json, node, false, err, "%s: expected %s, got %s", name, what, hc_json_kind(node));
}

static const struct hc_option *find_row(const struct hc_config_table *table, const char *path)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].path, path) == 0)
            return &table->rows[i];
    return NULL;
}

static int unknown_member(const struct file *f, const cJSON *node, const char *where,
                          const char *const *known, struct hc_error *err)
{
    char hint[160];
    hc_nearest(node->string, known, hint, sizeof hint);
    return hc_json_fail(f->json, node, true, err, "unknown member '%.64s'%s%s%s", node->string,
                        *where ? " in " : "", where, hint);
}

/* Append a zeroed element; NULL: out of memory. */
static void *append_element(void *array, size_t *count, size_t size)
{
    void **start = array;
    void *grown = realloc(*start, (*count + 1) * size);
    if (!grown)
        return NULL;
    *start = grown;
    return memset((char *)grown + size * (*count)++, 0, size);
}

/* Sets the values of an object whose members are a table's rows, except the members that the caller handles.
 */
static int set_record(struct file *f, const cJSON *object, const char *where,
                      const struct hc_config_table *table, void *record, const char *const *others,
                      struct hc_error *err)
{
    const char *known[32] = {NULL};
    size_t n = 0;
    if (!cJSON_IsObject(object))
        return wrong_type(f, object, where, "an object", err);
    for (size_t i = 0; i < table->count; i++)
        known[n++] = table->rows[i].path;
    for (const char *const *o = others; *o; o++)
        known[n++] = *o;
    const cJSON *node;
    cJSON_ArrayForEach(node, object)
    {
        const struct hc_option *row = find_row(table, node->string);
        bool other = false;
        for (const char *const *o = others; *o && !row; o++)
            other |= strcmp(*o, node->string) == 0;
        if (!row && !other)
            return unknown_member(f, node, where, known, err);
        if (row && hc_option_set_json(record, row, f->json, node, err) < 0)
            return -1;
    }
    return 0;
}

/* Sets a list of names. Paths are refused, as tenants that may use the names must not choose files of the
 * host. If the object lacks the member, the list stays as it is. */
static int set_names(struct file *f, const cJSON *object, const char *member, const char *what, char ***out,
                     struct hc_error *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, member), *node;
    char expected[64];
    if (!list)
        return 0;
    (void)snprintf(expected, sizeof expected, "a list of names of %s", member);
    if (!cJSON_IsArray(list))
        return wrong_type(f, list, member, expected, err);
    int count = cJSON_GetArraySize(list);
    if (count > MAX_ALLOWED)
        return hc_json_fail(f->json, list, false, err, "%s: more than %d", member, MAX_ALLOWED);
    char **names = calloc((size_t)count + 1, sizeof *names);
    if (!names)
        return hc_fail(err, ENOMEM, "%s", member);
    free_names(*out);
    *out = names;
    cJSON_ArrayForEach(node, list)
    {
        if (!cJSON_IsString(node) || !hc_is_id(node->valuestring, 64))
            return hc_json_fail(f->json, node, false, err,
                                "%s: expected the name of a %s (letters, digits, '.', '_', '-'), got %s",
                                member, what, cJSON_IsString(node) ? "another string" : hc_json_kind(node));
        if (!(*names++ = strdup(node->valuestring)))
            return hc_fail(err, ENOMEM, "%s", member);
    }
    return 0;
}

/* Sets the lists of policies and of trees, if the object has them. */
static int set_allowed(struct file *f, const cJSON *object, struct hc_allowed *out, struct hc_error *err)
{
    return set_names(f, object, "policies", "policy", &out->policies, err) < 0
               ? -1
               : set_names(f, object, "trees", "tree", &out->trees, err);
}

static const char *const quota_others[] = {"policies", "trees", "max", NULL};

/* Sets the maxima that the object has. The others stay: a tenant inherits those of "quotas". */
static int set_max(struct file *f, const cJSON *object, struct hc_limits *max, struct hc_error *err)
{
    return object ? hc_maxima_read(max, "max", f->json, object, err) : 0;
}

static int set_quotas(struct file *f, const cJSON *node, struct hc_error *err)
{
    struct hc_config *c = f->config;
    if (set_record(f, node, "quotas", &hc_quota_options, &c->quota, quota_others, err) < 0)
        return -1;
    if (set_max(f, cJSON_GetObjectItemCaseSensitive(node, "max"), &c->quota.max, err) < 0)
        return -1;
    return set_allowed(f, node, &c->allowed, err);
}

static bool whole_uid(double value, uid_t *uid)
{
    /* The highest number stands for "no uid" in system calls. */
    if (!(value >= 0 && value < 0xffffffffp0) || value != floor(value))
        return false;
    *uid = (uid_t)value;
    return true;
}

/* Parses "1000-1999". */
static bool parse_range(const char *text, struct hc_uid_range *out)
{
    char *end, *rest;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long first = strtoull(text, &end, 10);
    if (*end != '-' || end[1] < '0' || end[1] > '9')
        return false;
    unsigned long long last = strtoull(end + 1, &rest, 10);
    return !*rest && errno == 0 && whole_uid((double)first, &out->first) &&
           whole_uid((double)last, &out->last) && first <= last;
}

static int set_uid(struct file *f, struct hc_tenant_rule *rule, const cJSON *node, struct hc_error *err)
{
    struct hc_uid_range range = {0};
    bool good = false;
    if (cJSON_IsNumber(node)) {
        good = whole_uid(node->valuedouble, &range.first);
        range.last = range.first;
    } else if (cJSON_IsString(node)) {
        good = parse_range(node->valuestring, &range);
    }
    if (!good)
        return hc_json_fail(f->json, node, false, err,
                            "uids: expected a uid such as 1000 or a range such as \"1000-1999\"");
    for (size_t t = 0; t < f->config->tenant_count; t++) {
        const struct hc_tenant_rule *other = &f->config->tenants[t];
        for (size_t i = 0; i < other->uid_count; i++)
            if (range.first <= other->uids[i].last && other->uids[i].first <= range.last)
                return hc_json_fail(f->json, node, false, err, "uids: tenant '%s' has uid %u already",
                                    other->name,
                                    range.first > other->uids[i].first ? range.first : other->uids[i].first);
    }
    struct hc_uid_range *slot = append_element(&rule->uids, &rule->uid_count, sizeof *slot);
    if (!slot)
        return hc_fail(err, ENOMEM, "uids");
    *slot = range;
    return 0;
}

static int set_uids(struct file *f, struct hc_tenant_rule *rule, const cJSON *list, struct hc_error *err)
{
    if (!list)
        return 0;
    if (!cJSON_IsArray(list))
        return wrong_type(f, list, "uids", "a list of uids", err);
    f->uid_count += (size_t)cJSON_GetArraySize(list);
    if (cJSON_GetArraySize(list) > MAX_UIDS || f->uid_count > MAX_TENANTS)
        return hc_json_fail(f->json, list, false, err, "uids: more than %d of one tenant, or %d in all",
                            MAX_UIDS, MAX_TENANTS);
    const cJSON *node;
    cJSON_ArrayForEach(node, list)
    {
        if (set_uid(f, rule, node, err) < 0)
            return -1;
    }
    return 0;
}

bool hc_is_uid_tenant(const char *name)
{
    return strncmp(name, "uid-", 4) == 0 && name[4] && !name[4 + strspn(name + 4, "0123456789")];
}

static int check_tenant_name(const struct file *f, const cJSON *node, struct hc_error *err)
{
    if (!hc_is_id(node->string, HC_TENANT_NAME - 1))
        return hc_json_fail(
            f->json, node, true, err,
            "tenants: expected a name of 1 to %d letters, digits, '.', '_' or '-', not beginning with '.'",
            HC_TENANT_NAME - 1);
    if (hc_is_uid_tenant(node->string))
        return hc_json_fail(f->json, node, true, err,
                            "tenants: '%s' is what a user is called who has no tenant; choose another name, "
                            "and give it \"uids\"",
                            node->string);
    return 0;
}

/* Sets "admin", which must be true or false. */
static int set_admin(struct file *f, struct hc_tenant_rule *rule, const cJSON *node, struct hc_error *err)
{
    if (node && !cJSON_IsBool(node))
        return wrong_type(f, node, "admin", "true or false", err);
    rule->admin = cJSON_IsTrue(node);
    return 0;
}

static int set_tenant(struct file *f, const cJSON *node, struct hc_error *err)
{
    static const char *const others[] = {"uids", "policies", "trees", "max", "admin", NULL};
    struct hc_config *c = f->config;
    if (check_tenant_name(f, node, err) < 0)
        return -1;
    struct hc_tenant_rule *rule = append_element(&c->tenants, &c->tenant_count, sizeof *rule);
    if (!rule)
        return hc_fail(err, ENOMEM, "tenants");
    (void)snprintf(rule->name, sizeof rule->name, "%s", node->string);
    rule->quota = c->quota;
    if (hc_allowed_copy(&rule->allowed, &c->allowed, err) < 0)
        return -1;
    if (set_record(f, node, rule->name, &hc_quota_options, &rule->quota, others, err) < 0)
        return -1;
    if (set_uids(f, rule, cJSON_GetObjectItemCaseSensitive(node, "uids"), err) < 0 ||
        set_max(f, cJSON_GetObjectItemCaseSensitive(node, "max"), &rule->quota.max, err) < 0)
        return -1;
    if (set_admin(f, rule, cJSON_GetObjectItemCaseSensitive(node, "admin"), err) < 0)
        return -1;
    return set_allowed(f, node, &rule->allowed, err);
}

static int set_tenants(struct file *f, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(f, node, "tenants", "an object", err);
    if (cJSON_GetArraySize(node) > MAX_TENANTS)
        return hc_json_fail(f->json, node, false, err, "tenants: more than %d", MAX_TENANTS);
    const cJSON *tenant;
    cJSON_ArrayForEach(tenant, node)
    {
        if (set_tenant(f, tenant, err) < 0)
            return -1;
    }
    return 0;
}

static int set_address(struct file *f, struct hc_listen *l, const cJSON *node, struct hc_error *err)
{
    struct in6_addr ignored;
    const char *text = cJSON_IsString(node) ? node->valuestring : "";
    if (strlen(text) >= sizeof l->address ||
        (inet_pton(AF_INET, text, &ignored) != 1 && inet_pton(AF_INET6, text, &ignored) != 1))
        return hc_json_fail(f->json, node, false, err,
                            "listen: address: expected an IPv4 or IPv6 address such as \"127.0.0.1\"");
    (void)snprintf(l->address, sizeof l->address, "%s", text);
    return 0;
}

static int set_port(struct file *f, struct hc_listen *l, const cJSON *node, struct hc_error *err)
{
    double value = cJSON_IsNumber(node) ? node->valuedouble : 0;
    if (!(value >= 1 && value <= 65535) || value != floor(value))
        return hc_json_fail(f->json, node, false, err, "listen: port: expected 1 to 65535");
    l->port = (uint16_t)value;
    return 0;
}

static int set_listener(struct file *f, const cJSON *node, struct hc_error *err)
{
    static const char *const known[] = {"address", "port", NULL};
    struct hc_config *c = f->config;
    if (!cJSON_IsObject(node))
        return wrong_type(f, node, "listen", "an object with \"address\" and \"port\"", err);
    struct hc_listen *l = append_element(&c->listen, &c->listen_count, sizeof *l);
    if (!l)
        return hc_fail(err, ENOMEM, "listen");
    const cJSON *member;
    cJSON_ArrayForEach(member, node)
    {
        bool address = strcmp(member->string, known[0]) == 0, port = strcmp(member->string, known[1]) == 0;
        if (!address && !port)
            return unknown_member(f, member, "listen", known, err);
        if ((address ? set_address : set_port)(f, l, member, err) < 0)
            return -1;
    }
    if (!*l->address || !l->port)
        return hc_json_fail(f->json, node, false, err, "listen: expected \"address\" and \"port\"");
    return 0;
}

static int set_listen(struct file *f, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsArray(node))
        return wrong_type(f, node, "listen", "a list of objects with \"address\" and \"port\"", err);
    if (cJSON_GetArraySize(node) > MAX_LISTEN)
        return hc_json_fail(f->json, node, false, err, "listen: more than %d", MAX_LISTEN);
    const cJSON *listener;
    cJSON_ArrayForEach(listener, node)
    {
        if (set_listener(f, listener, err) < 0)
            return -1;
    }
    if (f->config->listen_count && !cJSON_GetObjectItemCaseSensitive(f->json->root, "tokens"))
        return hc_json_fail(f->json, node, true, err,
                            "listen: needs \"tokens\", the file of those who may connect over the network");
    return 0;
}

/* The members in the order in which they are set: tenants begin with the values of "quotas". */
static const struct member lists[] = {
    {"quotas", set_quotas}, {"tenants", set_tenants}, {"listen", set_listen}};

/* Requires absolute paths, as other processes use them, from their own working directories. */
static int check_path(const struct file *f, const struct hc_option *row, const cJSON *node,
                      struct hc_error *err)
{
    static const char *const paths[] = {"socket.path", "tokens", "state", "sign"};
    for (size_t i = 0; i < COUNT(paths); i++)
        if (strcmp(row->path, paths[i]) == 0 && node->valuestring[0] != '/')
            return hc_json_fail(f->json, node, false, err, "%s: expected an absolute path", row->path);
    if (strcmp(row->path, paths[0]) == 0 && strlen(node->valuestring) > HC_SOCKET_PATH)
        return hc_json_fail(f->json, node, false, err, "%s: longer than %d bytes", row->path, HC_SOCKET_PATH);
    return 0;
}

/* Lists the members that a section ("": the top) may have, with sections first, for hints. */
static void names_in(const char *section, const char *known[], size_t max, char sections[][16])
{
    size_t len = strlen(section), n = 0;
    for (size_t i = 0; i < hc_config_options.count + COUNT(lists) && n < max; i++) {
        const char *path = i < hc_config_options.count ? hc_config_options.rows[i].path
                                                       : lists[i - hc_config_options.count].path;
        const char *dot = strchr(path, '.');
        if (!len && dot) {
            (void)snprintf(sections[n], 16, "%.*s", (int)(dot - path), path);
            known[n] = sections[n];
            n++;
        } else if (!len) {
            known[n++] = path;
        } else if (dot && (size_t)(dot - path) == len && strncmp(path, section, len) == 0) {
            known[n++] = dot + 1;
        }
    }
    known[n] = NULL;
}

static bool is_section(const char *name)
{
    for (size_t i = 0; i < hc_config_options.count; i++) {
        const char *path = hc_config_options.rows[i].path, *dot = strchr(path, '.');
        if (dot && strlen(name) == (size_t)(dot - path) && strncmp(path, name, strlen(name)) == 0)
            return true;
    }
    return false;
}

#define MAX_NAMES 48 /* most names among which a suggestion for a misspelt one is sought */

static int set_member(struct file *f, const char *section, const cJSON *node, struct hc_error *err)
{
    char path[160];
    (void)snprintf(path, sizeof path, "%s%s%s", section, *section ? "." : "", node->string);
    bool dotted = strchr(node->string, '.') != NULL;
    for (size_t i = 0; i < COUNT(lists) && !dotted; i++)
        if (strcmp(lists[i].path, path) == 0)
            return 0; /* apply_file sets these */
    const struct hc_option *row = dotted ? NULL : find_row(&hc_config_options, path);
    if (!row) {
        const char *known[MAX_NAMES + 1];
        char sections[MAX_NAMES][16];
        names_in(section, known, MAX_NAMES, sections);
        return unknown_member(f, node, section, known, err);
    }
    if (hc_option_set_json(f->config, row, f->json, node, err) < 0)
        return -1;
    return row->kind == HC_OPT_NAME ? check_path(f, row, node, err) : 0;
}

static int set_section(struct file *f, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(f, node, node->string, "an object", err);
    const cJSON *member;
    cJSON_ArrayForEach(member, node)
    {
        if (set_member(f, node->string, member, err) < 0)
            return -1;
    }
    return 0;
}

static const cJSON *find_list(const struct file *f, const char *path)
{
    const char *dot = strchr(path, '.');
    if (!dot)
        return cJSON_GetObjectItemCaseSensitive(f->json->root, path);
    char section[16];
    (void)snprintf(section, sizeof section, "%.*s", (int)(dot - path), path);
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(f->json->root, section),
                                            dot + 1);
}

static int apply_file(struct file *f, struct hc_error *err)
{
    const cJSON *root = f->json->root, *node;
    if (!cJSON_IsObject(root))
        return hc_json_fail(f->json, root, false, err, "expected an object, got %s", hc_json_kind(root));
    cJSON_ArrayForEach(node, root)
    {
        int rc = is_section(node->string) ? set_section(f, node, err) : set_member(f, "", node, err);
        if (rc < 0)
            return -1;
    }
    for (size_t i = 0; i < COUNT(lists); i++) {
        const cJSON *list = find_list(f, lists[i].path);
        if (list && lists[i].set(f, list, err) < 0)
            return -1;
    }
    return 0;
}

int hc_config_parse(struct hc_config *c, const char *name, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json json;
    hc_config_init(c);
    if (hc_json_parse(&json, name, text, len, err) < 0)
        return hc_exit_as(err, HC_EXIT_CONFIG);
    struct file f = {.config = c, .json = &json};
    int rc = apply_file(&f, err);
    hc_json_finish(&json);
    if (rc == 0)
        return 0;
    hc_config_finish(c);
    return hc_exit_as(err, HC_EXIT_CONFIG);
}

mode_t hc_config_socket_mode(const struct hc_config *c)
{
    static const mode_t modes[] = {0600, 0660, 0666};
    return modes[c->socket_mode];
}

/* ---- changes ---- */

static void add_changed(struct hc_buf *out, const char *key)
{
    (void)hc_buf_fmt(out, "%s%s", out->len ? ", " : "", key);
}

static bool same_listen(const struct hc_config *old, const struct hc_config *fresh)
{
    bool same = old->listen_count == fresh->listen_count;
    for (size_t i = 0; same && i < old->listen_count; i++)
        same = strcmp(old->listen[i].address, fresh->listen[i].address) == 0 &&
               old->listen[i].port == fresh->listen[i].port;
    return same;
}

void hc_config_fixed_changes(const struct hc_config *old, const struct hc_config *fresh, struct hc_buf *out)
{
    char was[512], is[sizeof was];
    for (size_t i = 0; i < hc_config_options.count; i++) {
        const struct hc_option *opt = &hc_config_options.rows[i];
        hc_option_format(old, opt, was, sizeof was);
        hc_option_format(fresh, opt, is, sizeof is);
        if (opt->at_start && strcmp(was, is) != 0)
            add_changed(out, opt->path);
    }
    if (!same_listen(old, fresh))
        add_changed(out, "listen");
}
