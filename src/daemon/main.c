/* hotcelld - run jobs for many users, over HTTP on a Unix socket. See manager.c for its processes. */
#include "base/arguments.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "daemon/manager.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "usage: hotcelld [OPTION]...\n"
                           "Run Python programs in cells for others, who ask for it over HTTP.\n\n"
                           "      --config FILE   configuration (hotcelld.conf(5) says where it is)\n"
                           "      --socket PATH   Unix socket to listen on\n"
                           "      --state DIR     where results are kept\n"
                           "      --check-config  print the configuration with all defaults, and end\n"
                           "      --version, --help\n";

/* The parsed command line. */
struct arguments {
    const char *config, *socket, *state; /* paths; NULL: not given */
    bool check;                          /* --check-config was given */
};

static int usage(const char *what, const char *which)
{
    (void)fprintf(stderr, "hotcelld: %s%s (see 'hotcelld --help')\n", what, which);
    return HC_EXIT_USAGE;
}

/* Returns -1 to go on, or the exit status. */
static int read_arguments(struct arguments *a, int argc, char **argv)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"socket", required_argument, NULL, 's'},
        {"state", required_argument, NULL, 'd'},
        {"check-config", no_argument, NULL, 'k'},
        {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    for (int opt; (opt = hc_getopt(argc, argv, ":h", options)) != -1;) {
        switch (opt) {
        case 'c':
            a->config = optarg;
            break;
        case 's':
            a->socket = optarg;
            break;
        case 'd':
            a->state = optarg;
            break;
        case 'k':
            a->check = true;
            break;
        case 'v':
            (void)puts("hotcelld " HC_VERSION " (Python " HC_PYTHON_ABI ")");
            return HC_EXIT_OK;
        case 'h':
            (void)fputs(help, stdout);
            return HC_EXIT_OK;
        case ':':
            return usage(argv[optind - 1], " needs a value");
        default:
            return usage("unknown option ", argv[optind - 1]);
        }
    }
    return optind < argc ? usage("expected options only, got ", argv[optind]) : -1;
}

/* Makes a path of the command line absolute, as the daemon changes its working directory. */
static int put_path(char out[256], const char *path, int most, const char *option, struct hc_error *err)
{
    char here[PATH_MAX] = "";
    if (!path)
        return 0;
    if (path[0] != '/' && !getcwd(here, sizeof here))
        return hc_fail(err, errno, "%s", option);
    int n = snprintf(out, 256, "%s%s%s", here, *here ? "/" : "", path);
    if (!*path || n < 0 || n > most)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "%s: expected a path of at most %d bytes", option, most);
    return 0;
}

static int print_config(const struct hc_config *c)
{
    cJSON *json = hc_config_to_json(c);
    char *text = cJSON_Print(json);
    if (text)
        (void)puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
    return hc_program_end(text ? HC_EXIT_OK : HC_EXIT_INTERNAL);
}

int main(int argc, char **argv)
{
    struct arguments a = {0};
    struct hc_error err = {0};
    struct hc_config config;
    hc_log_name("hotcelld");
    if (getenv("JOURNAL_STREAM"))
        hc_log_priorities();
    int status = hc_program_begin();
    if (status != HC_EXIT_OK)
        return status;
    status = read_arguments(&a, argc, argv);
    if (status >= 0)
        return hc_program_end(status);
    char path[256] = "";
    if (put_path(path, a.config, 255, "--config", &err) < 0 ||
        hc_config_load(a.config ? path : NULL, &config, &err) < 0)
        return hc_report(&err);
    if (put_path(config.socket_path, a.socket, HC_SOCKET_PATH, "--socket", &err) < 0 ||
        put_path(config.state, a.state, 255, "--state", &err) < 0 || hc_config_find_places(&config, &err) < 0)
        status = hc_report(&err);
    else
        status = a.check ? print_config(&config) : hc_manager_main(&config, a.config ? path : NULL);
    hc_config_finish(&config);
    return status;
}
