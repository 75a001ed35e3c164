#include "daemon/config/config.h"

#define KIB (INT64_C(1) << 10) /* in bytes; so are the next three */
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TIB (INT64_C(1) << 40)

#define SECOND INT64_C(1000) /* in milliseconds; so are the next two */
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

static const char *const socket_modes[] = {"0600", "0660", "0666", NULL};
static const char *const interpreters[] = {"shared", "apart", NULL};
static const char *const local_users[] = {"own", "none", NULL};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* clang-format off */
#define FIELD(name) .at = offsetof(struct hc_config, name)
static const struct hc_option config_rows[] = {
    {.path = "socket.path", .at_start = true, .kind = HC_OPT_NAME, FIELD(socket_path), .def_name = "",
     .help = "The Unix socket, an absolute path of at most 107 bytes. Default: /run/hotcell/hotcelld.sock if root runs the daemon, "
             "and hotcell/hotcelld.sock below XDG_RUNTIME_DIR for other users."},
    {.path = "socket.mode", .at_start = true, .kind = HC_OPT_CHOICE, FIELD(socket_mode), .choices = socket_modes, .def = 0,
     .help = "Who may connect to the socket: its owner (0600), its group too (0660), or every user (0666)."},
    {.path = "socket.group", .at_start = true, .kind = HC_OPT_NAME, FIELD(socket_group), .def_name = "",
     .help = "The group that owns the socket. Default: the daemon's own group. For a socket that the service manager passes, "
             "SocketMode and SocketGroup of its unit hold instead of this key and socket.mode."},
    {.path = "tokens", .kind = HC_OPT_NAME, FIELD(tokens_file), .def_name = "",
     .help = "A file of tokens (see TOKENS), an absolute path. No user but the file's owner may be able to write the file."},
    {.path = "state", .at_start = true, .kind = HC_OPT_NAME, FIELD(state), .def_name = "",
     .help = "Directory of the ledger and of the results that are kept, an absolute path. Default: daemon below the directory "
             "where hotcell keeps its trees (see HOTCELL_STATE in hotcell(1))."},
    {.path = "sign", .at_start = true, .kind = HC_OPT_NAME, FIELD(sign), .def_name = "",
     .help = "A file with the key that manifests are signed with, as with \"hotcell run --sign\", an absolute path. No user but the file's "
             "owner may be able to read the file. Without this key, manifests are not signed."},
    {.path = "workers", .at_start = true, .kind = HC_OPT_COUNT, FIELD(workers), .min = 0, .max = HC_MAX_WORKERS, .def = 0,
     .help = "Number of jobs that run at the same time; 0: one job per processor."},
    {.path = "queue", .kind = HC_OPT_COUNT, FIELD(queue), .min = 1, .max = 1000000, .def = 10000,
     .help = "Number of jobs that may wait, of all tenants together. The number is lower if the hard limit of descriptors (RLIMIT_NOFILE) leaves fewer descriptors beside those for connections, workers and sessions."},
    {.path = "sessions", .kind = HC_OPT_COUNT, FIELD(sessions), .min = 0, .max = HC_MAX_SESSIONS, .def = 16,
     .help = "Number of sessions at the same time, of all tenants together. Each session has a process of its own beside the workers. 0: no sessions."},
    {.path = "drain", .kind = HC_OPT_DURATION, FIELD(drain_ms), .min = 0, .max = HOUR, .def = 30 * SECOND,
     .help = "How long running jobs may go on after the daemon was told to end."},
    {.path = "local_users", .kind = HC_OPT_CHOICE, FIELD(local), .choices = local_users, .def = HC_LOCAL_OWN,
     .help = "What holds for a user of this host whose uid no tenant lists: the user is a tenant of their own, named after the uid, as "
             "uid-1000 (own), or is no tenant at all (none)."},
    {.path = "trees.check", .at_start = true, .kind = HC_OPT_DURATION, FIELD(trees_ms), .min = 0, .max = 31 * DAY, .def = 300 * SECOND,
     .help = "Time in which the daemon compares every entry of every tree once, a few entries each second, with the tree that was built, to "
             "find trees that are changed while the daemon runs. 0: the daemon compares them at its start only. A new value holds from "
             "the next start on."},
    {.path = "warm.memory", .at_start = true, .kind = HC_OPT_SIZE, FIELD(warm_memory), .min = 0, .max = TIB, .def = 512 * MIB,
     .help = "Memory that all warm cells, which wait ready for a job, may use together; 0: no warm cells."},
    {.path = "warm.interpreters", .at_start = true, .kind = HC_OPT_CHOICE, FIELD(warm_apart), .choices = interpreters, .def = 0,
     .help = "Whether one warm interpreter makes the cells of all tenants that have the same policy, tree and limits (shared), or each tenant has "
             "interpreters of its own (apart). It never has a job's code or data, but cells of one interpreter have the same addresses in memory."},
    {.path = "warm.cells", .at_start = true, .kind = HC_OPT_COUNT, FIELD(warm_cells), .min = 1, .max = 1000000, .def = 1000,
     .help = "Number of cells that are made from one warm interpreter before a new interpreter takes its place: all these cells have the "
             "same addresses in memory as the interpreter."},
    {.path = "warm.age", .at_start = true, .kind = HC_OPT_DURATION, FIELD(warm_age_ms), .min = SECOND, .max = 31 * DAY, .def = HOUR,
     .help = "Age at which a warm interpreter is replaced by a new one."},
    {.path = "warm.idle", .at_start = true, .kind = HC_OPT_DURATION, FIELD(warm_idle_ms), .min = SECOND, .max = 31 * DAY,
     .def = 600 * SECOND,
     .help = "A warm interpreter for which no job has come for this time is ended."},
    {.path = "retention.time", .kind = HC_OPT_DURATION, FIELD(retention_ms), .min = SECOND, .max = 3660 * DAY,
     .def = 7 * DAY,
     .help = "How long finished jobs and their results are kept."},
    {.path = "retention.bytes", .kind = HC_OPT_SIZE, FIELD(retention_bytes), .min = 0, .max = 1024 * TIB,
     .def = 10 * GIB,
     .help = "Total size of the finished jobs and results that are kept; the oldest are deleted first; 0: no limit."},
    {.path = "uploads.time", .kind = HC_OPT_DURATION, FIELD(uploads_ms), .min = SECOND, .max = 31 * DAY, .def = HOUR,
     .help = "How long an upload is kept after its last use: a part that came, or a job or session that named it."},
    {.path = "sandboxfusion.policy", .kind = HC_OPT_NAME, FIELD(fusion_policy), .def_name = "",
     .help = "The policy of programs that clients of SandboxFusion send to POST /run_code and /run_jupyter (see DIALECTS). Default: the daemon does not take "
             "them. A tenant has to have this policy among its own."},
    {.path = "sandboxfusion.commands", .kind = HC_OPT_NAME, FIELD(fusion_commands), .def_name = "",
     .help = "The policy, one with commands.allow such as shell, of such requests in the languages bash and pytest. Default: these languages are not there."},
    {.path = "e2b.policy", .kind = HC_OPT_NAME, FIELD(e2b_policy), .def_name = "",
     .help = "The policy of sandboxes that clients of E2B create (see DIALECTS), for the templates that they ask for unless they are told another. "
             "Default: the daemon does not speak E2B's API. A tenant has to have this policy among its own."},
    {.path = "e2b.templates", .kind = HC_OPT_NAME, FIELD(e2b_templates), .def_name = "",
     .help = "Further policies, separated by blanks, each of which is a template of that API under its own name, such as \"shell\"."},
    {.path = "http.body", .kind = HC_OPT_SIZE, FIELD(http_body), .min = KIB, .max = 16 * GIB, .def = 64 * MIB,
     .help = "Size of the body of one request."},
    {.path = "http.bodies", .kind = HC_OPT_SIZE, FIELD(http_bodies), .min = KIB, .max = TIB, .def = 512 * MIB,
     .help = "Total size of the bodies that the daemon holds at the same time, at least http.body. Four kinds of bodies count: the body of a "
             "job, from its first byte until the job has ended; a body for a session or with the answer of a tool, until a process has "
             "taken it; an answer of a megabyte or more, until the client has taken it; and a list of files that E2B's clients ask "
             "for or watch. A tenant gets half of the size that the other tenants leave, and one body and one answer in any case."},
    {.path = "http.headers", .at_start = true, .kind = HC_OPT_SIZE, FIELD(http_headers), .min = KIB, .max = MIB, .def = 16 * KIB,
     .help = "Size of a request's first line and headers together."},
    {.path = "http.connections", .at_start = true, .kind = HC_OPT_COUNT, FIELD(http_connections), .min = 1, .max = 100000, .def = 256,
     .help = "Number of connections at the same time, on each socket; further connections wait until one ends."},
    {.path = "http.tenant_connections", .kind = HC_OPT_COUNT, FIELD(http_tenant_connections), .min = 1,
     .max = 100000, .def = 64,
     .help = "Number of connections of one tenant at the same time. The same number holds, for connections that have not named their tenant "
             "yet, for one user of this host, one IPv4 address or one IPv6 network (/64)."},
    {.path = "mcp.sessions", .kind = HC_OPT_COUNT, FIELD(mcp_sessions), .min = 0, .max = 1000, .def = 0,
     .help = "Number of sessions of the Model Context Protocol at the same time, of all tenants together (see MCP in hotcelld(8)). 0: the daemon does not speak it."},
    {.path = "mcp.idle", .kind = HC_OPT_DURATION, FIELD(mcp_idle_ms), .min = SECOND, .max = 31 * DAY, .def = 1800 * SECOND,
     .help = "A session of that protocol in which no program runs, no stream is open and no request has come for this time is ended."},
    {.path = "mcp.bytes", .kind = HC_OPT_SIZE, FIELD(mcp_bytes), .min = MIB, .max = GIB, .def = 32 * MIB,
     .help = "Size of the messages of one such session that its client has not read yet, or could ask for again after its connection has broken."},
    {.path = "mcp.origins", .kind = HC_OPT_NAME, FIELD(mcp_origins), .def_name = "",
     .help = "The web sites whose pages may speak it, as their browser's header Origin has them, separated by blanks: \"https://chat.example.org\". "
             "Sites at localhost, 127.0.0.1 and [::1] may in any case; a client that is no browser sends no Origin."},
    {.path = "http.idle", .at_start = true, .kind = HC_OPT_DURATION, FIELD(http_idle_ms), .min = SECOND, .max = HOUR,
     .def = 30 * SECOND,
     .help = "Time after which the daemon closes the connection of a client that should send or take data and does neither."},
};
#undef FIELD

#define FIELD(name) .at = offsetof(struct hc_quota, name)
static const struct hc_option quota_rows[] = {
    {.path = "weight", .kind = HC_OPT_COUNT, FIELD(weight), .min = 1, .max = 10000, .def = 100,
     .help = "Weight of the tenant: its share of the workers' time beside other tenants whose jobs wait, and of the processors beside "
             "other tenants whose jobs run."},
    {.path = "running", .kind = HC_OPT_COUNT, FIELD(running), .min = 0, .max = 1024, .def = 0,
     .help = "Number of jobs that run at the same time; 0: as many jobs as there are workers, or one fewer beside other tenants (see "
             "SHARES)."},
    {.path = "queued", .kind = HC_OPT_COUNT, FIELD(queued), .min = 0, .max = 1000000, .def = 1000,
     .help = "Number of jobs that may wait; 0: every job is refused."},
    {.path = "memory", .kind = HC_OPT_SIZE, FIELD(memory), .min = 0, .max = 1024 * TIB, .def = 0,
     .help = "Memory of the jobs that run at the same time, as the sum of their limits.memory; 0: no limit."},
    {.path = "cpu_seconds", .kind = HC_OPT_MILLI, FIELD(cpu_ms), .min = 0, .max = INT64_C(1000000000000), .def = 0,
     .help = "CPU time, in seconds, that the tenant's jobs may use within the window; 0: no limit."},
    {.path = "gb_seconds", .kind = HC_OPT_MILLI, FIELD(gb_s_milli), .min = 0, .max = INT64_C(1000000000000), .def = 0,
     .help = "Memory times time that the tenant's jobs may use within the window: 1 is 2^30 bytes for one second; 0: no limit."},
    {.path = "window", .kind = HC_OPT_DURATION, FIELD(window_ms), .min = SECOND, .max = 31 * DAY, .def = HOUR,
     .help = "Length of the window of cpu_seconds and gb_seconds: use that is longer ago does not count."},
    {.path = "stored_bytes", .kind = HC_OPT_SIZE, FIELD(stored_bytes), .min = 0, .max = 1024 * TIB, .def = GIB,
     .help = "Total size of the tenant's results and uploads that are kept; 0: no limit."},
    {.path = "sessions", .kind = HC_OPT_COUNT, FIELD(sessions), .min = 0, .max = HC_MAX_SESSIONS, .def = 4,
     .help = "Number of sessions at the same time; 0: every session is refused."},
    {.path = "mcp_sessions", .kind = HC_OPT_COUNT, FIELD(mcp_sessions), .min = 0, .max = 1000, .def = 8,
     .help = "Number of sessions of the Model Context Protocol at the same time; 0: every one is refused. Python sessions in them count as sessions."},
    {.path = "volumes", .kind = HC_OPT_COUNT, FIELD(volumes.count), .min = 0, .max = 10000, .def = 16,
     .help = "Number of the tenant's volumes, directories that are kept between jobs; 0: every job with a volume is refused."},
    {.path = "volume_bytes", .kind = HC_OPT_SIZE, FIELD(volumes.bytes), .min = 0, .max = 1024 * TIB, .def = GIB,
     .help = "Total size of the files in all of the tenant's volumes; 0: no limit."},
    {.path = "volume_files", .kind = HC_OPT_COUNT, FIELD(volumes.files), .min = 0, .max = 100000000, .def = 100000,
     .help = "Number of files, directories and links in all of the tenant's volumes; 0: no limit."},
    {.path = "policy", .kind = HC_OPT_NAME, FIELD(policy), .def_name = "",
     .help = "The policy of a request that names no policy. Default: the policy default, or the first of the tenant's policies if the "
             "tenant may not use the policy default."},
};
#undef FIELD
/* clang-format on */

const struct hc_config_table hc_config_options = {config_rows, COUNT(config_rows)};
const struct hc_config_table hc_quota_options = {quota_rows, COUNT(quota_rows)};
