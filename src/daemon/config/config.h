/* config.h - hotcelld.conf: what the daemon listens on, keeps, and grants to whom.
 *
 * JSON, read as policies are: unknown members are errors, and every error names file, line and column and
 * what was expected. Single values are rows of two tables (config_options.c), which the parser, the defaults
 * and the man page walk. Without a file the defaults hold. A struct never changes after it was loaded: to
 * reload is to load another one and to take it only if that went well. */
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

/* What one tenant may have and use. Members of "quotas", which hold for everybody, and of "tenants.NAME". */
struct hc_quota {
    int64_t weight;       /* share of the workers beside other tenants */
    int64_t running;      /* jobs at the same time; 0: as hc_queue_most_running says */
    int64_t queued;       /* jobs that wait */
    int64_t memory;       /* bytes that running jobs may use together (sum of their limits); 0: no limit */
    int64_t cpu_ms;       /* CPU time per window; 0: no limit */
    int64_t gb_s_milli;   /* thousandths of GB-seconds per window; 0: no limit */
    int64_t window_ms;    /* the sliding window of the two */
    int64_t stored_bytes; /* results that are kept; 0: no limit */
    int64_t sessions;     /* at the same time */
    char policy[256];     /* name that a request gets which names none; "": see hc_tenant_policy */
    struct hc_limits max; /* of each limit of one job or session; policy/tighten.h */
};

/* What jobs and sessions may name. Lists of names, owned and NULL-terminated; NULL: all that there is. */
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
    struct hc_quota quota; /* whole: what the tenant does not say itself is taken from "quotas" */
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
    int line; /* of the file */
};

struct hc_config {
    char socket_path[256];  /* "" before hc_config_find_places has found the default */
    int64_t socket_mode;    /* use hc_config_socket_mode */
    char socket_group[256]; /* "": the daemon's own */
    gid_t socket_gid;       /* found by hc_config_load; -1: as above */
    char state[256];        /* directory; "" as above */
    char tokens_file[256];  /* "": none */
    char sign[256];         /* file of the key for manifests; "": they are not signed */
    int64_t workers;        /* 0: one per processor; use hc_config_workers */
    int64_t queue;          /* jobs that wait, of all tenants together */
    int64_t sessions;       /* at the same time, of all tenants together */
    int64_t warm_memory;    /* bytes that all parked cells may use together */
    int64_t warm_cells, warm_age_ms, warm_idle_ms; /* after which a warm interpreter is replaced, or ends */
    int64_t local;           /* enum hc_local_users: what a uid is that no tenant names */
    int64_t retention_ms;    /* finished jobs are kept this long */
    int64_t retention_bytes; /* and at most this much of them */
    int64_t http_body;       /* bytes of one request's body */
    int64_t http_bodies;     /* and of all together */
    int64_t http_headers;    /* bytes of one request's line and headers */
    int64_t http_connections;
    int64_t http_tenant_connections; /* of one tenant */
    int64_t http_idle_ms; /* a client that neither sends nor takes anything is cut off after this */
    int64_t trees_ms;     /* each entry of each tree is looked at once in this time; 0: at the start only */
    int64_t drain_ms;     /* SIGTERM waits this long for running jobs */

    struct hc_quota quota;     /* of tenants that say nothing, and of "uid-N" */
    struct hc_allowed allowed; /* of the same */
    struct hc_listen *listen;  /* owned, as all below */
    size_t listen_count;
    struct hc_tenant_rule *tenants;
    size_t tenant_count;
    struct hc_token *tokens;
    size_t token_count;
};

void hc_config_init(struct hc_config *c); /* the tables' defaults */
void hc_config_finish(struct hc_config *c);

/* Load a file, and the tokens that it names; `path` NULL: /etc/hotcell/hotcelld.conf for root, the user's
 * hotcell/hotcelld.conf below XDG_CONFIG_HOME for others, and the defaults if that is not there. On failure
 * `*out` holds nothing that needs hc_config_finish. Errors are HC_EXIT_CONFIG. */
int hc_config_load(const char *path, struct hc_config *out, struct hc_error *err);

/* Where socket and state are, if neither the file nor the caller says it. HC_EXIT_CONFIG. */
int hc_config_find_places(struct hc_config *c, struct hc_error *err);

/* Both, without the tokens: for who only wants to know where things are. */
int hc_config_load_places(const char *path, struct hc_config *out, struct hc_error *err);

/* The two halves of it that take bytes, and call nothing: the file without its tokens, into a fresh struct
 * that on failure needs no hc_config_finish; and into it a file of tokens, lines of "SHA256 TENANT", '#'
 * begins a comment. */
int hc_config_parse(struct hc_config *c, const char *name, const char *text, size_t len,
                    struct hc_error *err);
int hc_config_parse_tokens(struct hc_config *c, const char *name, const char *text, size_t len,
                           struct hc_error *err);

/* A failed copy allows nothing, and owns nothing. */
int hc_allowed_copy(struct hc_allowed *out, const struct hc_allowed *from, struct hc_error *err);
void hc_allowed_finish(struct hc_allowed *a);

/* Is this what a user is called who has no tenant, "uid-1000"? Tenants cannot be called so. */
bool hc_is_uid_tenant(const char *name);

mode_t hc_config_socket_mode(const struct hc_config *c);
int hc_config_workers(const struct hc_config *c);

/* The configuration with all defaults, as a file that says everything has it (no tokens): for --check-config.
 * Owned by the caller; NULL without memory. */
cJSON *hc_config_to_json(const struct hc_config *c);

/* The tables of single values; `at` counts from struct hc_config and hc_quota. */
struct hc_config_table {
    const struct hc_option *rows;
    size_t count;
};
extern const struct hc_config_table hc_config_options, hc_quota_options;

void hc_config_print_man(FILE *out, const struct hc_config_table *table); /* items of an mdoc(7) list */

#endif
