/* hotcell cancel, hold, release, drain, resume - orders to a daemon about jobs, tenants and the daemon
 * itself. A tenant may cancel its own jobs; all other orders are for administrators. */
#include "cli/cli.h"

#include "base/arguments.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "client/ask.h"
#include "json/names.h"

#include <stdio.h>
#include <string.h>

#define MOST_REASON 200 /* most bytes of a reason that hotcelld takes */

/* One kind of order. */
struct order {
    const char *name, *arguments, *help; /* name of the command; its arguments and its purpose, for --help */
    const char *path;     /* route for administrators; "%s" stands for the job, session or tenant */
    const char *own_path; /* route for other tenants; NULL: the order is for administrators only */
    bool many;            /* takes one or more names */
    bool named;           /* takes a name: exactly one, unless `many` */
};

static const struct order orders[] = {
    {"cancel", "ID...",
     "End jobs and sessions, those that wait as well: one's own, or as an administrator anybody's.",
     "/v1/admin/jobs/%s/cancel", "/v1/jobs/%s/cancel", true, true},
    {"hold", "TENANT", "Let a tenant's jobs wait, and no session of it begin; what runs goes on.",
     "/v1/admin/tenants/%s/hold", NULL, false, true},
    {"release", "TENANT", "Let the jobs of a tenant that is held run again.", "/v1/admin/tenants/%s/release",
     NULL, false, true},
    {"drain", "", "Have hotcelld take no new jobs and sessions; those that it has accepted still run.",
     "/v1/admin/drain", NULL, false, false},
    {"resume", "", "Have hotcelld take jobs again.", "/v1/admin/resume", NULL, false, false},
};

/* The parsed command line. */
struct asked {
    const struct order *order;   /* row of `orders` */
    const char *reason, *socket; /* borrowed; NULL: not given */
    bool admin, json;            /* --admin; --json */
};

static void print_help(const struct order *o)
{
    (void)printf("usage: hotcell %s [OPTION]... %s\n%s\n\n", o->name, o->arguments, o->help);
    if (o->own_path)
        (void)puts("      --admin          as an administrator, which root is without saying so");
    (void)puts("      --reason TEXT    one line for the daemon's log, for the manifest of what is ended, and "
               "for a tenant\n"
               "                       that is held (for administrators)\n"
               "      --socket SOCKET  of the daemon, as HOTCELL_SOCKET says it\n"
               "      --json           print what the daemon answers, a line of JSON each");
}

/* Is the text a reason that the daemon accepts: one line, without characters that control a terminal? */
static bool is_reason(const char *text)
{
    const size_t len = strlen(text);
    const unsigned char *c = (const unsigned char *)text;
    for (; *c; c++)
        if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0)) /* 0xc2: U+0080 to U+009F */
            return false;
    return len <= MOST_REASON && hc_utf8_valid(text, len, NULL);
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(struct asked *a, int argc, char **argv)
{
    static const struct option options[] = {
        {"admin", no_argument, NULL, 'a'},        {"reason", required_argument, NULL, 'r'},
        {"socket", required_argument, NULL, 's'}, {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    const struct order *o = a->order;
    opterr = 0;
    for (int opt; (opt = hc_getopt(argc, argv, ":h", options)) != -1;) {
        if (opt == 'h') {
            print_help(o);
            return HC_EXIT_OK;
        }
        if (opt == '?' || opt == ':')
            return hc_usage(o->name, opt == '?' ? "there is no option '%.80s'" : "%.80s: expected a value",
                            argv[optind - 1]);
        a->admin |= opt == 'a';
        a->json |= opt == 'j';
        a->reason = opt == 'r' ? optarg : a->reason;
        a->socket = opt == 's' ? optarg : a->socket;
    }
    if (a->reason && !is_reason(a->reason))
        return hc_usage(o->name, "--reason: expected one line of at most %d bytes", MOST_REASON);
    int left = argc - optind;
    if (o->named ? left < 1 || (left > 1 && !o->many) : left > 0)
        return hc_usage(o->name, o->named ? "expected %s" : "expected no arguments%s",
                        o->named ? o->arguments : "");
    return -1;
}

/* Prints what has become of a job or session that was cancelled. */
static void print_ended(const cJSON *row)
{
    const char *id = hc_json_text_or(row, "job_id", "-"), *state = hc_json_text_or(row, "state", "-"),
               *status = hc_json_text_or(row, "status", "-");
    if (strcmp(id, "-") == 0)
        (void)printf("%s: %s\n", hc_json_text_or(row, "session_id", "-"),
                     strcmp(state, "ended") == 0 ? "has ended" : "is being ended");
    else if (strcmp(state, "running") == 0)
        (void)printf("%s: is being ended\n", id);
    else if (strcmp(status, "cancelled") == 0)
        (void)printf("%s: does not run any more\n", id);
    else
        (void)printf("%s: had ended (%s)\n", id, status);
}

/* Prints the daemon's answer about a job or session, a tenant, or itself. */
static void print_answer(const cJSON *row)
{
    const char *tenant = hc_json_text_or(row, "tenant", "-");
    bool job = strcmp(hc_json_text_or(row, "state", "-"), "-") != 0, named = strcmp(tenant, "-") != 0;
    if (job)
        print_ended(row);
    else
        (void)printf("%s%s; %lld jobs run, %lld wait, %lld sessions\n", named ? tenant : "hotcelld",
                     named ? hc_json_is_true(row, "held") ? ": held" : ": not held"
                     : hc_json_is_true(row, "draining") ? " takes no new jobs"
                                                        : " takes jobs",
                     (long long)hc_json_int(row, "running", 0), (long long)hc_json_int(row, "queued", 0),
                     (long long)hc_json_int(row, "sessions", 0));
}

static int print(const struct hc_json *answer, bool json, struct hc_error *err)
{
    char *text = json ? cJSON_PrintUnformatted(answer->root) : NULL;
    if (json && !text)
        return hc_fail(err, 0, "out of memory");
    if (text)
        (void)puts(text);
    else
        print_answer(answer->root);
    cJSON_free(text);
    return 0;
}

static int print_body(const struct asked *a, bool admin, struct hc_buf *body, struct hc_error *err)
{
    if (!a->reason)
        return 0;
    if (!admin)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "--reason is for administrators: see --admin");
    (void)hc_buf_str(body, "{\"reason\": ");
    hc_json_quote(body, a->reason, strlen(a->reason));
    return hc_buf_str(body, "}") < 0 ? hc_fail(err, 0, "out of memory") : 0;
}

/* Sends the order for one job, session or tenant, or with `name` NULL for the daemon; prints the answer. */
static int send_order(const struct asked *a, const struct hc_daemon_address *place, const char *name,
                      struct hc_error *err)
{
    hc_autobuf path = {0};
    hc_autobuf body = {0};
    struct hc_json answer;
    const bool admin = a->admin || !a->order->own_path || hc_ask_is_root(place);
    const char *form = admin ? a->order->path : a->order->own_path;
    const char *gap = strstr(form, "%s");
    if (name && !hc_is_id(name, 64))
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "'%.80s': expected letters, digits, '.', '_' or '-'", name);
    (void)hc_buf_add(&path, form, gap ? (size_t)(gap - form) : strlen(form));
    if (gap)
        (void)hc_buf_fmt(&path, "%s%s", name, gap + 2);
    if (path.failed)
        return hc_fail(err, 0, "out of memory");
    if (print_body(a, admin, &body, err) < 0 || hc_ask(place, "POST", path.data, body.data, &answer, err) < 0)
        return name ? hc_ctx(err, "%s", name) : -1;
    int rc = print(&answer, a->json, err);
    hc_json_finish(&answer);
    return rc;
}

/* Sends the order for all names. Returns the exit status of the last one that failed. */
static int send_orders(const struct asked *a, char **names, int count)
{
    struct hc_daemon_address place;
    struct hc_error err = {0};
    int status = HC_EXIT_OK;
    if (hc_ask_find(&place, a->socket, &err) < 0)
        return hc_report(&err);
    for (int i = 0; i < count || (i == 0 && !a->order->named); i++)
        if (send_order(a, &place, a->order->named ? names[i] : NULL, &err) < 0)
            status = hc_report(&err);
    return status;
}

int hc_cmd_order(int argc, char **argv)
{
    struct asked a = {0};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(orders[i].name, argv[0]) == 0)
            a.order = &orders[i];
    int status = parse_options(&a, argc, argv);
    return status >= 0 ? status : send_orders(&a, argv + optind, argc - optind);
}
