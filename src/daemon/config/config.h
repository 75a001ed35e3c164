/* config.h - hotcelld.conf: the daemon's sockets, its limits, and its tenants with their quotas.
 *
 * The file is JSON, read as policies are: unknown members are errors, and every error names file, line and
 * column and what was expected. Single values are rows of two tables (config_options.c), which the parser,
 * the defaults and the man page use. Without a file the defaults hold. A loaded struct never changes: a
 * reload loads another one, which replaces the first only if it has no error. */
#ifndef HC_DAEMON_CONFIG_CONFIG_H
#define HC_DAEMON_CONFIG_CONFIG_H

#include "base/hash.h"
#include "policy/options.h"
#include "policy/tighten.h"

#include <stdio.h>
#include <sys/types.h>

#define HC_MAX_WORKERS  1024
#define HC_MAX_SESSIONS 1024
#define HC_MAX_TEXT     ((int64_t)16 << 20) /* see hc_job_check_texts */

#define HC_TENANT_NAME  65                 /* 64 letters, digits, '.', '_', '-', and a NUL */
#define HC_KIB_S_PER_GB (INT64_C(1) << 20) /* one GB-second is 2^30 bytes for one second */

enum hc_local_users { HC_LOCAL_OWN, HC_LOCAL_NONE };

/* What one tenant may have and use: the members of "quotas", for all tenants, and of "tenants.NAME". */
struct hc_quota {
    int64_t weight;       /* share of the workers beside other tenants */
    int64_t running;      /* most jobs that run at the same time; 0: hc_queue_most_running decides */
    int64_t queued;       /* most jobs that wait */
    int64_t memory;       /* bytes that running jobs may use together (sum of their limits); 0: no limit */
    int64_t cpu_ms;       /* CPU time per window; 0: no limit */
    int64_t gb_s_milli;   /* thousandths of GB-seconds per window; 0: no limit */
    int64_t window_ms;    /* the sliding window of cpu_ms and gb_s_milli */
    int64_t stored_bytes; /* bytes of results that are kept; 0: no limit */
    int64_t sessions;     /* most sessions at the same time */
    char policy[256];     /* for requests that name no policy; "": see hc_tenant_policy */
    struct hc_limits max; /* maxima of the limits of one job or session; policy/tighten.h */
};

/* The names that jobs and sessions may use. Lists, owned and NULL-terminated; NULL: all names. */
struct hc_allowed {
    char **policies;
    char **trees;
};

struct hc_uid_range {
    uid_t first, last; /* inclusive */
};

struct hc_tenant_rule {
    char name[HC_TENANT_NAME];
    struct hc_uid_range *uids; /* owned */
    size_t uid_count;
    struct hc_quota quota; /* complete: members that the tenant lacks are those of "quotas" */
    struct hc_allowed allowed;
    bool admin; /* may look at others' jobs, end them, hold tenants and drain the daemon */
};

struct hc_listen {
    char address[46]; /* numeric, IPv4 or IPv6 */
    uint16_t port;
};

#define HC_SOCKET_PATH 107 /* bytes: sun_path of a struct sockaddr_un, with a NUL */

struct hc_token {
    char sha256[HC_SHA256_HEX]; /* of the token as a client sends it */
    char tenant[HC_TENANT_NAME];
    int line; /* in the file of tokens */
};

struct hc_config {
    char socket_path[256];  /* "" before hc_config_find_places has found the default */
    int64_t socket_mode;    /* use hc_config_socket_mode */
    char socket_group[256]; /* "": the daemon's own group */
    gid_t socket_gid;       /* found by hc_config_load; -1: the daemon's own group */
    char state[256];        /* directory; "" before hc_config_find_places has found the default */
    char tokens_file[256];  /* "": none */
    char sign[256];         /* file of the key for manifests; "": manifests are not signed */
    int64_t workers;        /* 0: one per processor; use hc_config_workers */
    int64_t queue;          /* most jobs that wait, of all tenants together */
    int64_t sessions;       /* most sessions at the same time, of all tenants together */
    int64_t warm_memory;    /* bytes that all parked cells may use together */
    int64_t warm_cells, warm_age_ms, warm_idle_ms; /* after which a warm interpreter is replaced, or ends */
    int64_t local;           /* enum hc_local_users: the tenant of a uid that no tenant names */
    int64_t retention_ms;    /* finished jobs are kept this long */
    int64_t retention_bytes; /* most bytes of finished jobs' results */
    int64_t http_body;       /* most bytes of one request's body */
    int64_t http_bodies;     /* most bytes of all requests' bodies together */
    int64_t http_headers;    /* most bytes of one request's line and headers */
    int64_t http_connections;
    int64_t http_tenant_connections; /* most connections of one tenant */
    int64_t http_idle_ms; /* a client that neither sends nor receives for this long is disconnected */
    int64_t trees_ms;     /* each entry of each tree is checked once in this time; 0: at the start only */
    int64_t drain_ms;     /* SIGTERM waits this long for running jobs */

    struct hc_quota quota;     /* "quotas": of tenants without their own, and of "uid-N" */
    struct hc_allowed allowed; /* of tenants without their own, and of "uid-N" */
    struct hc_listen *listen;  /* owned, as are all arrays below */
    size_t listen_count;
    struct hc_tenant_rule *tenants;
    size_t tenant_count;
    struct hc_token *tokens;
    size_t token_count;
};

void hc_config_init(struct hc_config *c); /* the tables' defaults */
void hc_config_finish(struct hc_config *c);

/* Load a file, and the file of tokens that it names. `path` NULL: /etc/hotcell/hotcelld.conf for root, the
 * user's hotcell/hotcelld.conf below XDG_CONFIG_HOME for others; without that file, the defaults. On failure
 * `*out` holds nothing that needs hc_config_finish. Errors are HC_EXIT_CONFIG. */
int hc_config_load(const char *path, struct hc_config *out, struct hc_error *err);

/* Set the paths of socket and state to their defaults if neither the file nor the caller has set them.
 * HC_EXIT_CONFIG. */
int hc_config_find_places(struct hc_config *c, struct hc_error *err);

/* Load a file without its tokens and find these paths: for programs that only need to know where socket and
 * state are. */
int hc_config_load_places(const char *path, struct hc_config *out, struct hc_error *err);

/* The two steps of loading that only parse bytes: the file without its tokens, into a fresh struct, which on
 * failure needs no hc_config_finish; and a file of tokens, into that struct: lines of "SHA256 TENANT", '#'
 * begins a comment. */
int hc_config_parse(struct hc_config *c, const char *name, const char *text, size_t len,
                    struct hc_error *err);
int hc_config_parse_tokens(struct hc_config *c, const char *name, const char *text, size_t len,
                           struct hc_error *err);

/* A failed copy allows nothing, and owns nothing. */
int hc_allowed_copy(struct hc_allowed *out, const struct hc_allowed *from, struct hc_error *err);
void hc_allowed_finish(struct hc_allowed *a);

/* Is this the name of a user without a configured tenant, "uid-1000"? A configured tenant cannot have such a
 * name. */
bool hc_is_uid_tenant(const char *name);

mode_t hc_config_socket_mode(const struct hc_config *c);
int hc_config_workers(const struct hc_config *c);

/* The configuration as the JSON of a file that sets every value, defaults too, but without tokens: for
 * --check-config. Owned by the caller; NULL: out of memory. */
cJSON *hc_config_to_json(const struct hc_config *c);

/* The tables of single values; `at` of a row is the offsetof in struct hc_config or in struct hc_quota. */
struct hc_config_table {
    const struct hc_option *rows;
    size_t count;
};
extern const struct hc_config_table hc_config_options, hc_quota_options;

#endif
