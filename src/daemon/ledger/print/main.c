/* hotcell-ledger - prints jobs and usage from a daemon's answers or from its ledger. "hotcell jobs" and
 * "hotcell usage" execute this program, which opens the ledger for reading only, whether a daemon runs or
 * not. */
#include "base/arguments.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "base/units.h"
#include "daemon/ledger/print/report.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char jobs_help[] =
    "usage: hotcell jobs [OPTION]...\n"
    "       hotcell jobs show ID [OPTION]...\n"
    "List jobs, newest first, or tell all of one: one's own, as hotcelld tells of them; as root those of "
    "all\n"
    "tenants, also where no daemon runs.\n\n"
    "      --all            of all tenants: for administrators, and what root sees\n"
    "      --tenant NAME    of this tenant only\n"
    "      --state STATE    queued, running, done or failed\n"
    "      --status STATUS  of the manifest, such as ok or timeout (hotcell-manifest(5)); or failed,\n"
    "                       cancelled or unknown; or session: the open sessions\n"
    "      --policy NAME    of this policy only\n"
    "      --since TIME     accepted since: a time in UTC (2026-11-20, 2026-11-20T08:00:00Z), or so long ago "
    "(24h)\n"
    "  -n, --number N       no more than N; default 100, 0 for all that is told\n"
    "      --json           print a list of objects\n"
    "      --socket SOCKET  of the daemon, as HOTCELL_SOCKET says it\n"
    "      --config FILE    read the ledger of the daemon with this configuration, and do not ask it\n"
    "      --ledger FILE    the ledger itself\n";

static const char usage_help[] =
    "usage: hotcell usage [OPTION]...\n"
    "Print what tenants have used, as a daemon's ledger knows it.\n\n"
    "      --tenant NAME    of this tenant only\n"
    "      --since TIME     since this hour: a time in UTC (2026-11-20, 2026-11-20T08:00:00Z), or so long "
    "ago (24h)\n"
    "      --hourly         a row for each hour\n"
    "      --json           print a list of objects\n"
    "      --config FILE    the daemon's configuration, which says where the ledger is\n"
    "      --ledger FILE    the ledger itself\n";

static const struct option job_options[] = {
    {"help", no_argument, NULL, 'h'},
    {"json", no_argument, NULL, 'j'},
    {"tenant", required_argument, NULL, 't'},
    {"since", required_argument, NULL, 's'},
    {"config", required_argument, NULL, 'c'},
    {"ledger", required_argument, NULL, 'l'},
    {"state", required_argument, NULL, 'S'},
    {"status", required_argument, NULL, 'r'},
    {"policy", required_argument, NULL, 'p'},
    {"socket", required_argument, NULL, 'k'},
    {"all", no_argument, NULL, 'a'},
    {"number", required_argument, NULL, 'n'},
    {NULL, 0, NULL, 0},
};
static const struct option use_options[] = {
    {"help", no_argument, NULL, 'h'},         {"json", no_argument, NULL, 'j'},
    {"tenant", required_argument, NULL, 't'}, {"since", required_argument, NULL, 's'},
    {"config", required_argument, NULL, 'c'}, {"ledger", required_argument, NULL, 'l'},
    {"hourly", no_argument, NULL, 'H'},       {NULL, 0, NULL, 0},
};

static const struct command {
    const char *name, *help, *letters;
    const struct option *options;
    /* asks a daemon; NULL: the command reads the ledger only */
    int (*ask)(const struct hc_report_options *o, struct hc_error *err);
    int (*run)(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err);
} commands[] = {
    {"jobs", jobs_help, ":hn:", job_options, hc_report_asked, hc_report_jobs},
    {"usage", usage_help, ":h", use_options, NULL, hc_report_usage},
};

static int wrong(const struct command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int wrong(const struct command *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)fprintf(stderr, "hotcell %s: %s (see 'hotcell %s --help')\n", c->name, text, c->name);
    return HC_EXIT_USAGE;
}

enum { PARSED = -1 };

/* Returns PARSED, or the exit status of the program. */
static int set_option(const struct command *c, struct hc_report_options *o, int opt)
{
    char known[HC_TASK_STATUS_LIST];
    switch (opt) {
    case 'j':
        o->json = true;
        break;
    case 'H':
        o->hourly = true;
        break;
    case 't':
        o->tenant = optarg;
        break;
    case 'c':
        o->config = optarg;
        break;
    case 'r':
        if (!hc_task_is_status(optarg) && strcmp(optarg, HC_REPORT_SESSION) != 0)
            return wrong(c, "--status: expected %s, or " HC_REPORT_SESSION ", got '%.80s'",
                         hc_task_status_list(known), optarg);
        o->status = optarg;
        break;
    case 'p':
        o->policy = optarg;
        break;
    case 'k':
        o->socket = optarg;
        break;
    case 'a':
        o->admin = true;
        break;
    case 'l':
        o->ledger = optarg;
        break;
    case 's':
        if (hc_report_since(optarg, hc_wall_ms(), &o->since) < 0)
            return wrong(c,
                         "--since: expected a time such as 2026-11-20 or a duration such as 24h, got '%.80s'",
                         optarg);
        break;
    case 'S':
        if ((o->state = hc_task_state_from(optarg)) < 0)
            return wrong(c, "--state: expected " HC_TASK_STATE_NAMES ", got '%.80s'", optarg);
        break;
    case 'n':
        if (hc_parse_int(optarg, &o->most) < 0 || o->most < 0)
            return wrong(c, "--number: expected a number of jobs, got '%.80s'", optarg);
        break;
    default:
        break;
    }
    return PARSED;
}

static int parse(const struct command *c, struct hc_report_options *o, int argc, char **argv)
{
    int opt;
    opterr = 0;
    while ((opt = hc_getopt(argc, argv, c->letters, c->options)) != -1) {
        if (opt == 'h') {
            (void)fputs(c->help, stdout);
            return HC_EXIT_OK;
        }
        if (opt == '?' || opt == ':')
            return wrong(c, opt == '?' ? "there is no option '%.80s'" : "%.80s: expected a value",
                         argv[optind - 1]);
        int rc = set_option(c, o, opt);
        if (rc != PARSED)
            return rc;
    }
    if (c->ask && optind < argc && strcmp(argv[optind], "show") == 0 && optind + 1 < argc) {
        o->show = argv[optind + 1];
        optind += 2;
    }
    if (optind < argc)
        return wrong(c,
                     c->ask ? "expected no arguments, or show ID, got '%.80s'"
                            : "expected no arguments, got '%.80s'",
                     argv[optind]);
    if (o->config && o->ledger)
        return wrong(c, "--config only says where the ledger is: it does not go with --ledger");
    if (o->socket && (o->config || o->ledger))
        return wrong(c, "--socket asks the daemon: it does not go with --config and --ledger");
    return PARSED;
}

static int report(const struct command *c, const struct hc_report_options *o, struct hc_error *err)
{
    struct hc_config config;
    struct hc_ledger *l;
    hc_autobuf path = {0};
    if (!o->ledger) {
        if (hc_config_load_places(o->config, &config, err) < 0)
            return -1;
        int rc = hc_buf_fmt(&path, "%s/" HC_LEDGER_FILE, config.state);
        hc_config_finish(&config);
        if (rc < 0)
            return hc_fail(err, 0, "out of memory");
    }
    if (hc_ledger_open(&l, o->ledger ? o->ledger : path.data, HC_LEDGER_READ, err) < 0)
        return -1;
    int rc = c->run(o, l, err);
    hc_ledger_close(l);
    return rc;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct hc_report_options o = {.command = c->name, .state = -1, .most = 100};
    struct hc_error err = {0};
    int rc = parse(c, &o, argc, argv);
    if (rc != PARSED)
        return hc_program_end(rc);
    rc = c->ask && !o.config && !o.ledger ? c->ask(&o, &err) : 1;
    if (rc > 0) /* no daemon runs, or the command does not ask one */
        rc = report(c, &o, &err);
    return hc_program_end(rc < 0 ? hc_report(&err) : HC_EXIT_OK);
}

int main(int argc, char **argv)
{
    int status = hc_program_begin();
    if (status != HC_EXIT_OK)
        return status;
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, argv[1]) == 0)
            return run(&commands[i], argc - 1, argv + 1);
    (void)fputs("hotcell-ledger: is what 'hotcell jobs' and 'hotcell usage' start\n", stderr);
    return HC_EXIT_USAGE;
}
