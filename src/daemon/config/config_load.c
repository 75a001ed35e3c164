#include "daemon/config/config.h"

#include "base/fd.h"
#include "base/state.h"
#include "base/units.h"
#include "cell/key.h"
#include "cell/policies.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SYSTEM_FILE "/etc/hotcell/hotcelld.conf" /* root's configuration */
#define MAX_FILE    (4u << 20)                   /* most bytes of a configuration */
#define MAX_TOKENS  (16u << 20)                  /* most bytes of a file of tokens */

/* The value of a variable that has an absolute path. An empty or relative path counts as unset (XDG Base
 * Directory Specification). */
static const char *absolute_env(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] == '/' ? value : NULL;
}

static int join_path(char out[256], const char *dir, const char *rest, struct hc_error *err)
{
    int n = snprintf(out, 256, "%s%s", dir, rest);
    return n < 0 || n >= 256 ? hc_fail(err, ENAMETOOLONG, "%s%s", dir, rest) : 0;
}

/* The default path of the configuration; "" if the user has no place for it. */
static int default_file(char out[256], struct hc_error *err)
{
    const char *dir;
    out[0] = '\0';
    if (geteuid() == 0)
        return join_path(out, SYSTEM_FILE, "", err);
    if ((dir = absolute_env("XDG_CONFIG_HOME")))
        return join_path(out, dir, "/hotcell/hotcelld.conf", err);
    if ((dir = absolute_env("HOME")))
        return join_path(out, dir, "/.config/hotcell/hotcelld.conf", err);
    return 0;
}

static int default_socket(char out[256], struct hc_error *err)
{
    char path[PATH_MAX];
    return hc_daemon_socket(path, err) < 0 ? -1 : join_path(out, path, "", err);
}

static int default_state(char out[256], struct hc_error *err)
{
    char state[PATH_MAX];
    if (hc_state_dir(state, err) < 0)
        return -1;
    return join_path(out, state, "/daemon", err);
}

int hc_config_find_places(struct hc_config *c, struct hc_error *err)
{
    if (!*c->socket_path && default_socket(c->socket_path, err) < 0)
        (void)hc_ctx(err, "configuration: socket.path (--socket)");
    else if (!*c->state && default_state(c->state, err) < 0)
        (void)hc_ctx(err, "configuration: state (--state)");
    else
        return 0;
    return hc_exit_as(err, HC_EXIT_CONFIG);
}

/* The configuration file as it was read, for errors that are found only once all of it is parsed. */
struct source {
    char path[PATH_MAX];
    struct hc_buf text;  /* content of the file; owned */
    struct hc_json json; /* parsed `text`, owned; root NULL: there is no file */
};

static void close_source(struct source *s)
{
    if (s->json.root)
        hc_json_finish(&s->json);
    hc_buf_finish(&s->text);
}

/* Finds a member of the tenant (NULL: of "quotas") or, with `inner`, a member of that member. NULL:
 * the file does not have it. */
static const cJSON *find_quota_member(const struct source *s, const char *tenant, const char *member,
                                      const char *inner)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(s->json.root, tenant ? "tenants" : "quotas");
    if (tenant)
        node = cJSON_GetObjectItemCaseSensitive(node, tenant);
    node = cJSON_GetObjectItemCaseSensitive(node, member);
    return inner ? cJSON_GetObjectItemCaseSensitive(node, inner) : node;
}

/* Loads the file; `path` NULL: the default file, which need not exist. */
static int load_file(const char *path, struct source *s, struct hc_config *out, struct hc_error *err)
{
    char usual[256];
    if (!path && default_file(usual, err) < 0)
        return -1;
    if (!path && (!*usual || (access(usual, F_OK) < 0 && errno == ENOENT))) {
        hc_config_init(out);
        return 0;
    }
    if (!path)
        path = usual;
    (void)snprintf(s->path, sizeof s->path, "%s", path);
    if (hc_read_file(AT_FDCWD, path, &s->text, MAX_FILE, err) < 0)
        return -1;
    const char *text = s->text.data ? s->text.data : "";
    if (hc_config_parse(out, s->path, text, s->text.len, err) < 0)
        return -1;
    if (hc_json_parse(&s->json, s->path, text, s->text.len, err) == 0)
        return 0;
    hc_config_finish(out);
    return -1;
}

/* Refuses a file of tokens that other users can write: a user who can write it can become any tenant. */
static int check_owner(int fd, const char *path, struct hc_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return hc_fail(err, errno, "%s", path);
    if (!S_ISREG(st.st_mode))
        return hc_fail(err, 0, "%s: expected a regular file", path);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return hc_fail(err, 0, "%s: belongs to uid %u; it must be root's or the daemon's own", path,
                       st.st_uid);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return hc_fail(err, 0, "%s: is writable by others than its owner: chmod go-w it", path);
    return 0;
}

static int load_tokens(struct hc_config *c, struct hc_error *err)
{
    const char *path = c->tokens_file;
    hc_autobuf text = {0};
    if (!*path)
        return 0;
    hc_autofd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return hc_fail(err, errno, "tokens: open %s", path);
    if (check_owner(fd, path, err) < 0 || hc_read_all(fd, &text, MAX_TOKENS, err) < 0)
        return hc_ctx(err, "tokens");
    return hc_config_parse_tokens(c, path, text.data ? text.data : "", text.len, err);
}

/* Checks that the key can be read, and forgets it: the front must not inherit it. Workers read the key
 * themselves. */
static int check_key(const struct hc_config *c, struct hc_error *err)
{
    hc_autobuf key = {0};
    int rc = *c->sign ? hc_key_read(c->sign, &key, err) : 0;
    if (key.data)
        explicit_bzero(key.data, key.len);
    return rc < 0 ? hc_ctx(err, "sign") : 0;
}

static int find_group(struct hc_config *c, struct hc_error *err)
{
    c->socket_gid = (gid_t)-1;
    if (!c->socket_group[0])
        return 0;
    errno = 0;
    /* The process has one thread, so no other call can change the static buffer of getgrnam. */
    // cppcheck-suppress getgrnamCalled
    const struct group *g = getgrnam(c->socket_group);
    if (!g)
        return hc_fail(err, errno, "socket.group: there is no group '%s'", c->socket_group);
    c->socket_gid = g->gr_gid;
    return 0;
}

static bool is_listed(char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* The rights of one tenant, or (`tenant` is NULL) of all tenants that have no rights of their own. */
struct grant {
    const char *tenant;           /* name of the tenant; NULL: the rights are those of "quotas" */
    const struct hc_quota *quota; /* borrowed, as is `policies` */
    char *const *policies;        /* names of policies that are allowed; NULL: all */
};

static const char *name_of(const struct grant *g)
{
    return g->tenant ? g->tenant : "quotas";
}

static int check_names(const struct source *s, const struct grant *g, char *const *there,
                       struct hc_error *err)
{
    const cJSON *name;
    cJSON_ArrayForEach(name, find_quota_member(s, g->tenant, "policies", NULL))
    {
        if (!is_listed(there, name->valuestring))
            return hc_json_fail(&s->json, name, false, err, "policies of %s: there is no policy '%s'",
                                name_of(g), name->valuestring);
    }
    return 0;
}

/* The policy for requests that name none must be among the policies that they may name. */
static int check_default_policy(const struct source *s, const struct grant *g, char *const *there,
                                struct hc_error *err)
{
    const char *policy = g->quota->policy;
    const cJSON *member = find_quota_member(s, g->tenant, "policy", NULL);
    if (*policy && member && !is_listed(there, policy))
        return hc_json_fail(&s->json, member, false, err, "policy of %s: there is no policy '%s'", name_of(g),
                            policy);
    if (!member) /* the tenant has its own list of policies, and takes the default policy from "quotas" */
        member = find_quota_member(s, g->tenant, "policies", NULL);
    if (*policy && member && g->policies && !is_listed(g->policies, policy))
        return hc_json_fail(&s->json, member, false, err, "policy of %s: '%s' is none of its policies",
                            name_of(g), policy);
    return 0;
}

/* Refuses a maximum of memory for one job above the tenant's quota of memory: every job that used the maximum
 * would be refused for good, which the file's author cannot have meant. A maximum in "quotas" is for all
 * tenants, whatever their own quota is. */
static int check_memory(const struct source *s, const struct grant *g, struct hc_error *err)
{
    char asked[32], most[32];
    const cJSON *member = find_quota_member(s, g->tenant, "max", "memory");
    const int64_t max = g->quota->max.memory, all = g->quota->memory;
    if (!member || all <= 0 || max <= all)
        return 0;
    return hc_json_fail(&s->json, member, false, err,
                        "max.memory of %s: %s for one job, and all of its jobs together may have %s (memory)",
                        name_of(g), hc_format_size(max, asked, sizeof asked),
                        hc_format_size(all, most, sizeof most));
}

static int check_grant(const struct source *s, const struct grant *g, char *const *there,
                       struct hc_error *err)
{
    return check_names(s, g, there, err) < 0 || check_default_policy(s, g, there, err) < 0 ||
                   check_memory(s, g, err) < 0
               ? -1
               : 0;
}

/* Refuses names of policies and trees that do not exist: a misspelt name would refuse jobs that the author
 * wanted to allow. */
static int check_grants(const struct hc_config *c, const struct source *s, struct hc_error *err)
{
    char **there;
    const struct grant all = {NULL, &c->quota, c->allowed.policies};
    if (hc_policies_list(&there, err) < 0)
        return -1;
    int rc = check_grant(s, &all, there, err);
    for (size_t i = 0; rc == 0 && i < c->tenant_count; i++) {
        const struct hc_tenant_rule *rule = &c->tenants[i];
        const struct grant one = {rule->name, &rule->quota, rule->allowed.policies};
        rc = check_grant(s, &one, there, err);
    }
    hc_policies_free(there);
    return rc;
}

static int check_named_things(struct hc_config *c, const struct source *s, struct hc_error *err)
{
    return load_tokens(c, err) < 0 || check_key(c, err) < 0 || find_group(c, err) < 0 ||
                   check_grants(c, s, err) < 0
               ? -1
               : 0;
}

static int load_config_file(const char *path, struct hc_config *out, bool tokens, struct hc_error *err)
{
    __attribute__((cleanup(close_source))) struct source source = {0};
    if (load_file(path, &source, out, err) < 0) {
        (void)hc_ctx(err, "configuration");
        return hc_exit_as(err, HC_EXIT_CONFIG);
    }
    if (!tokens || check_named_things(out, &source, err) == 0)
        return 0;
    hc_config_finish(out);
    (void)hc_ctx(err, "configuration");
    return hc_exit_as(err, HC_EXIT_CONFIG);
}

int hc_config_load(const char *path, struct hc_config *out, struct hc_error *err)
{
    return load_config_file(path, out, true, err);
}

int hc_config_load_places(const char *path, struct hc_config *out, struct hc_error *err)
{
    if (load_config_file(path, out, false, err) < 0)
        return -1;
    if (hc_config_find_places(out, err) == 0)
        return 0;
    hc_config_finish(out);
    return -1;
}

int hc_config_workers(const struct hc_config *c)
{
    cpu_set_t cpus;
    if (c->workers)
        return (int)c->workers;
    /* sched_getaffinity fails on a host with more processors than a cpu_set_t can hold. */
    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}
