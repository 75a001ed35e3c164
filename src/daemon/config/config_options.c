#include "daemon/config/config.h"

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TIB (INT64_C(1) << 40)

#define SECOND INT64_C(1000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

static const char *const socket_modes[] = {"0600", "0660", "0666", NULL};
static const char *const local_users[] = {"own", "none", NULL};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* clang-format off */
#define FIELD(name) .at = offsetof(struct hc_config, name)
static const struct hc_option config_rows[] = {
    {.path = "socket.path", .kind = HC_OPT_NAME, FIELD(socket_path), .def_name = "",
     .help = "The Unix socket, an absolute path of at most 107 bytes; otherwise /run/hotcell/hotcelld.sock for root, "
             "and hotcell/hotcelld.sock below XDG_RUNTIME_DIR for others."},
    {.path = "socket.mode", .kind = HC_OPT_CHOICE, FIELD(socket_mode), .choices = socket_modes, .def = 0,
     .help = "Who may connect to it: its owner, its group too, or everybody."},
    {.path = "socket.group", .kind = HC_OPT_NAME, FIELD(socket_group), .def_name = "",
     .help = "The group that the socket is given to; otherwise the daemon's own; for a socket that the service manager passes, "
             "SocketMode and SocketGroup of its unit hold instead."},
    {.path = "tokens", .kind = HC_OPT_NAME, FIELD(tokens_file), .def_name = "",
     .help = "A file of tokens (see TOKENS), an absolute path; only its owner may be able to write it."},
    {.path = "state", .kind = HC_OPT_NAME, FIELD(state), .def_name = "",
     .help = "Directory of the ledger and of results that are kept, an absolute path; otherwise daemon below the directory "
             "where hotcell keeps its trees (see HOTCELL_STATE in hotcell(1))."},
    {.path = "sign", .kind = HC_OPT_NAME, FIELD(sign), .def_name = "",
     .help = "A file with the key that manifests are signed with, as with \"hotcell run --sign\", an absolute path; nobody but its "
             "owner may be able to read it; otherwise they are not signed."},
    {.path = "workers", .kind = HC_OPT_COUNT, FIELD(workers), .min = 0, .max = HC_MAX_WORKERS, .def = 0,
     .help = "Jobs that run at the same time; 0 for one per processor."},
    {.path = "queue", .kind = HC_OPT_COUNT, FIELD(queue), .min = 1, .max = 1000000, .def = 10000,
     .help = "Jobs that wait, of all tenants together; fewer if the hard limit of descriptors (RLIMIT_NOFILE) leaves fewer beside connections, workers and sessions."},
    {.path = "sessions", .kind = HC_OPT_COUNT, FIELD(sessions), .min = 0, .max = HC_MAX_SESSIONS, .def = 16,
     .help = "Sessions at the same time, of all tenants together; each has a process of its own beside the workers. 0 for none."},
    {.path = "drain", .kind = HC_OPT_DURATION, FIELD(drain_ms), .min = 0, .max = HOUR, .def = 30 * SECOND,
     .help = "How long running jobs may go on when the daemon is told to end."},
    {.path = "local_users", .kind = HC_OPT_CHOICE, FIELD(local), .choices = local_users, .def = HC_LOCAL_OWN,
     .help = "What a user of this host is whose uid no tenant has: a tenant of his own, called after his uid "
             "(uid-1000), or nobody."},
    {.path = "trees.check", .kind = HC_OPT_DURATION, FIELD(trees_ms), .min = 0, .max = 31 * DAY, .def = 300 * SECOND,
     .help = "In what time every entry of every tree is compared once with what was built, some each second, which tells of trees that "
             "are changed while the daemon runs; 0 for at its start only (a new value holds from the next start on)."},
    {.path = "warm.memory", .kind = HC_OPT_SIZE, FIELD(warm_memory), .min = 0, .max = TIB, .def = 512 * MIB,
     .help = "Memory that all cells together may use that wait ready for a job; 0 for no such cells."},
    {.path = "warm.cells", .kind = HC_OPT_COUNT, FIELD(warm_cells), .min = 1, .max = 1000000, .def = 1000,
     .help = "Cells that are made of one warm interpreter before a new one takes its place: the addresses in its memory are "
             "theirs as well."},
    {.path = "warm.age", .kind = HC_OPT_DURATION, FIELD(warm_age_ms), .min = SECOND, .max = 31 * DAY, .def = HOUR,
     .help = "How old such an interpreter gets before a new one takes its place."},
    {.path = "warm.idle", .kind = HC_OPT_DURATION, FIELD(warm_idle_ms), .min = SECOND, .max = 31 * DAY,
     .def = 600 * SECOND,
     .help = "An interpreter for which no job has come for so long ends."},
    {.path = "retention.time", .kind = HC_OPT_DURATION, FIELD(retention_ms), .min = SECOND, .max = 3660 * DAY,
     .def = 7 * DAY,
     .help = "How long finished jobs and their results are kept."},
    {.path = "retention.bytes", .kind = HC_OPT_SIZE, FIELD(retention_bytes), .min = 0, .max = 1024 * TIB,
     .def = 10 * GIB,
     .help = "How much of them is kept; the oldest go first; 0 for no limit."},
    {.path = "http.body", .kind = HC_OPT_SIZE, FIELD(http_body), .min = KIB, .max = 16 * GIB, .def = 64 * MIB,
     .help = "Size of a request's body."},
    {.path = "http.bodies", .kind = HC_OPT_SIZE, FIELD(http_bodies), .min = KIB, .max = TIB, .def = 512 * MIB,
     .help = "Size of all bodies together, and at least http.body: those of jobs from their first byte until these have ended, those for "
             "sessions and answers of tools until a process has taken them, and answers of a megabyte and more until "
             "the client has; of this a tenant gets half of what the others leave, and one body and one answer in "
             "any case."},
    {.path = "http.headers", .kind = HC_OPT_SIZE, FIELD(http_headers), .min = KIB, .max = MIB, .def = 16 * KIB,
     .help = "Size of a request's first line and headers together."},
    {.path = "http.connections", .kind = HC_OPT_COUNT, FIELD(http_connections), .min = 1, .max = 100000, .def = 256,
     .help = "Connections at the same time, on each socket; more wait until one ends."},
    {.path = "http.tenant_connections", .kind = HC_OPT_COUNT, FIELD(http_tenant_connections), .min = 1,
     .max = 100000, .def = 64,
     .help = "Connections of one tenant at the same time; and of one user of this host, one IPv4 address or one IPv6 network (/64), that "
             "have not said yet for which tenant."},
    {.path = "http.idle", .kind = HC_OPT_DURATION, FIELD(http_idle_ms), .min = SECOND, .max = HOUR,
     .def = 30 * SECOND,
     .help = "A client that sends nothing and takes nothing for so long, though it is its turn, is cut off."},
};
#undef FIELD

#define FIELD(name) .at = offsetof(struct hc_quota, name)
static const struct hc_option quota_rows[] = {
    {.path = "weight", .kind = HC_OPT_COUNT, FIELD(weight), .min = 1, .max = 10000, .def = 100,
     .help = "Share of the workers' time beside other tenants that wait, and of the processors beside other tenants "
             "whose jobs run."},
    {.path = "running", .kind = HC_OPT_COUNT, FIELD(running), .min = 0, .max = 1024, .def = 0,
     .help = "Jobs that run at the same time; 0 for as many as there are workers, or for all workers but one beside other tenants "
             "(see SHARES)."},
    {.path = "queued", .kind = HC_OPT_COUNT, FIELD(queued), .min = 0, .max = 1000000, .def = 1000,
     .help = "Jobs that wait; 0 refuses every job."},
    {.path = "memory", .kind = HC_OPT_SIZE, FIELD(memory), .min = 0, .max = 1024 * TIB, .def = 0,
     .help = "Memory of the jobs that run at the same time: the sum of their limits.memory; 0 for no limit."},
    {.path = "cpu_seconds", .kind = HC_OPT_MILLI, FIELD(cpu_ms), .min = 0, .max = INT64_C(1000000000000), .def = 0,
     .help = "CPU time in seconds that jobs may use within the window; 0 for no limit."},
    {.path = "gb_seconds", .kind = HC_OPT_MILLI, FIELD(gb_s_milli), .min = 0, .max = INT64_C(1000000000000), .def = 0,
     .help = "Memory times time that jobs may use within the window: 1 is 2^30 bytes for one second; 0 for no limit."},
    {.path = "window", .kind = HC_OPT_DURATION, FIELD(window_ms), .min = SECOND, .max = 31 * DAY, .def = HOUR,
     .help = "The window of the two: use that is longer ago does not count."},
    {.path = "stored_bytes", .kind = HC_OPT_SIZE, FIELD(stored_bytes), .min = 0, .max = 1024 * TIB, .def = GIB,
     .help = "Size of the results that are kept; 0 for no limit."},
    {.path = "sessions", .kind = HC_OPT_COUNT, FIELD(sessions), .min = 0, .max = HC_MAX_SESSIONS, .def = 4,
     .help = "Sessions at the same time; 0 refuses them."},
    {.path = "policy", .kind = HC_OPT_NAME, FIELD(policy), .def_name = "",
     .help = "The policy of a request that names none; otherwise default, or the first of the tenant's policies if that "
             "is none of them."},
};
#undef FIELD
/* clang-format on */

const struct hc_config_table hc_config_options = {config_rows, COUNT(config_rows)};
const struct hc_config_table hc_quota_options = {quota_rows, COUNT(quota_rows)};

void hc_config_print_man(FILE *out, const struct hc_config_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        hc_option_print_field_man(out, &table->rows[i]);
}
