/* config.h - hotcelld.conf: the daemon's sockets, its limits, and its tenants with their quotas.
 *
 * The file is JSON, read as policies are: unknown members are errors, and every error names file, line and
 * column and what was expected. Single values are rows of two tables (config_options.c), which the parser,
 * the defaults and the man page use. Without a file the defaults hold. A loaded struct never changes: a
 * reload loads another one, which replaces the first only if it has no error. */
#ifndef HC_DAEMON_CONFIG_CONFIG_H
#define HC_DAEMON_CONFIG_CONFIG_H

#include "base/hash.h"
#include "cell/volume.h"
#include "policy/options.h"
#include "policy/tighten.h"

#include <stdio.h>
#include <sys/types.h>

#define HC_MAX_WORKERS  1024                /* most workers of a daemon */
#define HC_MAX_SESSIONS 1024                /* most open sessions of a daemon */
#define HC_MAX_TEXT     ((int64_t)16 << 20) /* most bytes of each text of a result; see hc_job_check_texts */

#define HC_UPLOADS_DIR                                                                                       \
    "uploads" /* below the state directory: what tenants have sent in parts (upload_store.h) */

#define HC_VOLUMES_DIR "volumes" /* below the state directory: tenants' volumes (cell/volume.h) */

#define HC_TENANT_NAME  65                 /* 64 letters, digits, '.', '_', '-', and a NUL */
#define HC_KIB_S_PER_GB (INT64_C(1) << 20) /* one GB-second is 2^30 bytes for one second */

/* What a user of this host is that no configured tenant names: a tenant of its own, "uid-N"; refused. */
enum hc_local_users { HC_LOCAL_OWN, HC_LOCAL_NONE };

/* What one tenant may have and use: the members of "quotas", for all tenants, and of "tenants.NAME". */
struct hc_quota {
    int64_t weight;       /* share of the workers beside other tenants */
    int64_t running;      /* most jobs that run at the same time; 0: hc_queue_most_running decides */
    int64_t queued;       /* most jobs that wait */
    int64_t memory;       /* most bytes that running jobs use together (sum of their limits); 0: no limit */
    int64_t cpu_ms;       /* most CPU time per window, in ms; 0: no limit */
    int64_t gb_s_milli;   /* most GB-seconds per window, in thousandths; 0: no limit */
    int64_t window_ms;    /* length of the sliding window of cpu_ms and gb_s_milli, in ms */
    int64_t stored_bytes; /* most bytes of results that are kept; 0: no limit */
    int64_t sessions;     /* most sessions at the same time */
    int64_t mcp_sessions; /* most sessions of MCP at the same time */
    struct hc_volume_quota volumes; /* maxima of its volumes, all together */
    char policy[256];     /* name of the policy for requests that name none; "": see hc_tenant_policy */
    struct hc_limits max; /* maxima of the limits of one job or session; policy/tighten.h */
};

/* The names that jobs and sessions may use. Lists, owned and NULL-terminated; NULL: all names. */
struct hc_allowed {
    char **policies; /* names of policies */
    char **trees;    /* names of trees */
};

struct hc_uid_range {
    uid_t first, last; /* uids of this host; both inclusive */
};

/* A configured tenant: a member of "tenants". */
struct hc_tenant_rule {
    char name[HC_TENANT_NAME]; /* name of the tenant */
    struct hc_uid_range *uids; /* users of this host who are the tenant; owned */
    size_t uid_count;          /* number of `uids` */
    struct hc_quota quota;     /* complete: members that the tenant lacks are those of "quotas" */
    struct hc_allowed allowed; /* complete, likewise; owned */
    bool admin;                /* may look at others' jobs, end them, hold tenants and drain the daemon */
};

/* A TCP socket to listen on. */
struct hc_listen {
    char address[46]; /* numeric, IPv4 or IPv6 */
    uint16_t port;    /* TCP port */
};

/* Most bytes of socket_path: sun_path of a struct sockaddr_un has room for a NUL. */
#define HC_SOCKET_PATH 107

/* A line of the file of tokens. */
struct hc_token {
    char sha256[HC_SHA256_HEX];  /* SHA-256 of the token as a client sends it */
    char tenant[HC_TENANT_NAME]; /* name of its tenant */
    int line;                    /* number of the line, from 1 */
};

struct hc_config {
    /* Path of the Unix socket; "" before hc_config_find_places has found the default. */
    char socket_path[256];
    int64_t socket_mode;    /* mode of the Unix socket; use hc_config_socket_mode */
    char socket_group[256]; /* group of the Unix socket, by name; "": the daemon's own group */
    gid_t socket_gid;       /* the same group, found by hc_config_load; -1: the daemon's own group */
    char state[256]; /* path of the state directory; "" before hc_config_find_places has found the default */
    char tokens_file[256]; /* path of the file of tokens; "": there are no tokens */
    char sign[256];        /* path of the file with the key for manifests; "": manifests are not signed */
    int64_t workers;       /* number of workers; 0: one per processor; use hc_config_workers */
    int64_t queue;         /* most jobs that wait, of all tenants together */
    int64_t sessions;      /* most sessions at the same time, of all tenants together */
    int64_t warm_memory;   /* bytes that all parked cells may use together */
    int64_t warm_apart;    /* 1: no interpreter serves two tenants (struct hc_warm_rules: apart) */
    int64_t warm_cells, warm_age_ms, warm_idle_ms; /* struct hc_warm_rules: cells, age_ms, idle_ms */
    int64_t local;                   /* enum hc_local_users: the tenant of a uid that no tenant names */
    int64_t retention_ms;            /* how long finished jobs are kept, in ms */
    int64_t retention_bytes;         /* most bytes of finished jobs' results */
    int64_t uploads_ms;              /* how long an upload that is not used is kept, in ms */
    int64_t http_body;               /* most bytes of one request's body */
    int64_t http_bodies;             /* most bytes of all requests' bodies together */
    int64_t http_headers;            /* most bytes of one request's line and headers */
    char fusion_policy[256];         /* policy of programs in SandboxFusion's dialect; "": it is off */
    char fusion_commands[256];       /* policy of its languages that are commands; "": there are none */
    char e2b_policy[256];            /* policy of sandboxes in E2B's dialect; "": it is off */
    char e2b_templates[256];         /* further policies of its sandboxes, separated by blanks */
    int64_t http_connections;        /* most connections on each listening socket */
    int64_t http_tenant_connections; /* most connections of one tenant */
    int64_t http_idle_ms;  /* ms after which a client that neither sends nor receives is disconnected */
    int64_t mcp_sessions;  /* most sessions of MCP, of all tenants together; 0: MCP is off */
    int64_t mcp_idle_ms;   /* ms after which a session of MCP that is not used is ended */
    int64_t mcp_bytes;     /* most bytes of messages that are kept for the client of one */
    char mcp_origins[256]; /* web sites whose pages may use MCP, separated by blanks */
    int64_t trees_ms;      /* ms in which each entry of each tree is checked once; 0: at the start only */
    int64_t drain_ms;      /* ms for which SIGTERM waits for running jobs */

    struct hc_quota quota;          /* "quotas": for tenants without quotas of their own, and for "uid-N" */
    struct hc_allowed allowed;      /* policies of tenants without a list of their own, and of "uid-N" */
    struct hc_listen *listen;       /* owned, as are all arrays below */
    size_t listen_count;            /* number of entries of `listen` */
    struct hc_tenant_rule *tenants; /* the configured tenants */
    size_t tenant_count;            /* number of entries of `tenants` */
    struct hc_token *tokens;        /* the tokens in the file of tokens */
    size_t token_count;             /* number of entries of `tokens` */
};

void hc_config_init(struct hc_config *c); /* sets all values to the defaults of the tables */
void hc_config_finish(struct hc_config *c);

/* Append the keys that differ between the two, and that the daemon reads at its start only, as "a, b". */
void hc_config_fixed_changes(const struct hc_config *old, const struct hc_config *fresh, struct hc_buf *out);

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

/* Copy the lists of names; hc_allowed_finish frees the copy. -1: no memory; `out` then allows nothing, and
 * owns nothing. */
int hc_allowed_copy(struct hc_allowed *out, const struct hc_allowed *from, struct hc_error *err);
void hc_allowed_finish(struct hc_allowed *a);

/* Is this the name of a user without a configured tenant, "uid-1000"? A configured tenant cannot have such a
 * name. */
bool hc_is_uid_tenant(const char *name);

mode_t hc_config_socket_mode(const struct hc_config *c); /* mode of the Unix socket */
int hc_config_workers(const struct hc_config *c);        /* number of workers, 1 or more */

/* The configuration as the JSON of a file that sets every value, defaults too, but without tokens: for
 * --check-config. Owned by the caller; NULL: out of memory. */
cJSON *hc_config_to_json(const struct hc_config *c);

/* The tables of single values; `at` of a row is the offsetof in struct hc_config or in struct hc_quota. */
struct hc_config_table {
    const struct hc_option *rows; /* rows of the table; static */
    size_t count;                 /* number of `rows` */
};
extern const struct hc_config_table hc_config_options, hc_quota_options;

#endif
