/* hotcell tree build|list|verify|remove|path - manages the store of trees. */
#include "cli/cli.h"

#include "base/arguments.h"
#include "base/fd.h"
#include "base/state.h"
#include "cell/tree.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char help[] =
    "usage: hotcell tree build [--name NAME] [--python PATH] RECIPE...\n"
    "       hotcell tree list [--json]\n"
    "       hotcell tree verify NAME|ID...\n"
    "       hotcell tree remove NAME|ID\n"
    "       hotcell tree path NAME|ID\n\n"
    "RECIPE is 'base', 'scientific', or a path to a recipe (with a slash).\n"
    "--python PATH takes the distributions from that interpreter's (virtual) environment.\n";

/* ---- build ---- */

static int find_recipe(const char *recipe, char out[PATH_MAX], struct hc_error *err)
{
    char dir[PATH_MAX];
    if (strchr(recipe, '/')) {
        if (snprintf(out, PATH_MAX, "%s", recipe) >= PATH_MAX)
            return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "recipe");
    } else if (hc_data_dir("rootfs", dir, err) < 0) {
        return -1;
    } else if (snprintf(out, PATH_MAX, "%s/%s.json", dir, recipe) >= PATH_MAX) {
        return hc_fail_as(err, HC_EXIT_DATA, ENAMETOOLONG, "recipe");
    }
    if (access(out, R_OK) == 0)
        return 0;
    if (!strchr(recipe, '/') && errno == ENOENT)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "there is no recipe '%s': expected base, scientific or a path with a slash",
                          recipe);
    return hc_fail_as(err, HC_EXIT_DATA, errno, "recipe %s", out);
}

/* The default name of a tree: the name of its recipe's file without .json. */
static void default_name(const char *recipe, char *out, size_t size)
{
    const char *base = strrchr(recipe, '/');
    (void)snprintf(out, size, "%s", base ? base + 1 : recipe);
    char *dot = strrchr(out, '.');
    if (dot && strcmp(dot, ".json") == 0)
        *dot = '\0';
}

/* When a signal ends us, the builder is ended first, so that the incomplete tree can be removed. */
static volatile sig_atomic_t ended_by; /* the signal; 0: none */
static volatile pid_t builder;         /* pid of the builder; 0: none runs */

static void end_builder(int sig)
{
    ended_by = sig;
    if (builder > 0)
        (void)kill(builder, SIGTERM); /* a shell's background process ignores SIGINT */
}

static void watch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction was, to = {.sa_handler = end_builder};
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &to, NULL);
    }
}

static void end_by_signal(void)
{
    if (!ended_by)
        return;
    (void)signal(ended_by, SIG_DFL);
    (void)raise(ended_by);
}

static int wait_for(pid_t pid, struct hc_error *err)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return hc_fail(err, errno, "wait for the tree builder");
    builder = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFSIGNALED(status))
        return hc_fail(err, 0, "the tree builder was ended by signal %d", WTERMSIG(status));
    return hc_fail_as(err, WEXITSTATUS(status), 0, "the tree was not built");
}

static int populate(const char *recipe, const char *staging, const char *python, struct hc_error *err)
{
    char dir[PATH_MAX], script[PATH_MAX + 16], shim[PATH_MAX];
    if (hc_data_dir("rootfs", dir, err) < 0 || hc_shim_path(shim, err) < 0)
        return -1;
    (void)snprintf(script, sizeof script, "%s/build.py", dir);
    const char *argv[] = {HC_HOST_PYTHON, "-I",    script,   "--recipe", recipe,
                          "--staging",    staging, "--shim", shim,       python ? "--python" : NULL,
                          python,         NULL};
    pid_t pid;
    int rc = posix_spawn(&pid, HC_HOST_PYTHON, NULL, NULL, (char *const *)argv, environ);
    if (rc)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, rc, "start the tree builder with " HC_HOST_PYTHON);
    builder = pid;
    if (ended_by)
        (void)kill(pid, SIGTERM);
    return wait_for(pid, err);
}

static int build(const char *recipe, const char *name, const char *python, struct hc_error *err)
{
    char file[PATH_MAX], staging[PATH_MAX], chosen[PATH_MAX], id[HC_SHA256_HEX];
    if (find_recipe(recipe, file, err) < 0)
        return -1;
    default_name(recipe, chosen, sizeof chosen);
    if (hc_tree_check_name(name ? name : chosen, err) < 0)
        return -1;
    hc_autofd lock = -1;
    if (hc_tree_stage(staging, &lock, err) < 0)
        return -1;
    watch_signals(); /* after SIGKILL, the next build removes the incomplete tree */
    int rc = populate(file, staging, python, err);
    if (rc == 0)
        rc = hc_tree_adopt(staging, name ? name : chosen, id, err);
    if (rc < 0) {
        hc_tree_discard(staging);
        end_by_signal();
        return -1;
    }
    (void)printf("%s %s\n", id, name ? name : chosen);
    return 0;
}

/* Checks that the recipe exists, and that the tree's name is valid. */
static int check_recipe(const char *recipe, const char *name, struct hc_error *err)
{
    char file[PATH_MAX], chosen[PATH_MAX];
    default_name(recipe, chosen, sizeof chosen);
    return find_recipe(recipe, file, err) < 0 ? -1 : hc_tree_check_name(name ? name : chosen, err);
}

static int cmd_build(int argc, char **argv)
{
    static const struct option options[] = {
        {"name", required_argument, NULL, 'n'}, {"python", required_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
    const char *name = NULL, *python = NULL;
    struct hc_error err;
    int opt;
    while ((opt = hc_getopt(argc, argv, ":", options)) != -1) {
        if (opt == 'n')
            name = optarg;
        else if (opt == 'p')
            python = optarg;
        else
            return opt == ':' ? hc_usage("tree", "%s needs a value", argv[optind - 1])
                              : hc_unknown_option("tree", options, argv[optind - 1]);
    }
    if (optind == argc)
        return hc_usage("tree", "build: expected a RECIPE");
    if (name && argc - optind > 1)
        return hc_usage("tree", "build: --name is for one RECIPE, got %d", argc - optind);
    for (int i = optind; i < argc; i++) /* all are checked first, as each build takes minutes */
        if (check_recipe(argv[i], name, &err) < 0)
            return hc_report(&err);
    for (int i = optind; i < argc; i++)
        if (build(argv[i], name, python, &err) < 0)
            return hc_report(&err);
    return HC_EXIT_OK;
}

/* ---- list ---- */

/* A list of trees that is being printed. */
struct listing {
    cJSON *rows; /* a list of trees, owned; NULL: print text */
    int count;   /* number of trees so far */
};

static void describe(cJSON *row, const char *path)
{
    char meta[PATH_MAX + 16];
    hc_autobuf text = {0};
    struct hc_error ignored;
    (void)snprintf(meta, sizeof meta, "%s/meta.json", path);
    if (hc_read_file(AT_FDCWD, meta, &text, 1 << 20, &ignored) < 0)
        return;
    cJSON *j = cJSON_ParseWithLength(text.data, text.len);
    if (j)
        cJSON_AddItemToObject(row, "meta", j);
}

static void list_row(void *ctx, const char *name, const char *id, const char *path)
{
    struct listing *l = ctx;
    cJSON *row = cJSON_CreateObject();
    describe(row, path);
    l->count++;
    if (l->rows) {
        cJSON_AddStringToObject(row, "name", name);
        cJSON_AddStringToObject(row, "id", id);
        cJSON_AddStringToObject(row, "path", path);
        cJSON_AddItemToArray(l->rows, row);
        return;
    }
    const cJSON *meta = hc_json_member(row, "meta");
    const cJSON *python = hc_json_member(meta, "python");
    const cJSON *bytes = hc_json_member(meta, "bytes");
    (void)printf("%-16s %.12s  Python %-8s %5.0f MiB  %s\n", *name ? name : "-", id,
                 cJSON_IsString(python) ? python->valuestring : "?",
                 cJSON_IsNumber(bytes) ? bytes->valuedouble / 0x1p20 : 0.0, path);
    cJSON_Delete(row);
}

static int cmd_list(int argc, char **argv)
{
    struct hc_error err;
    bool json = argc == 2 && strcmp(argv[1], "--json") == 0;
    if (argc != 1 && !json)
        return hc_usage("tree", "list: expected at most --json");
    struct listing l = {.rows = json ? cJSON_CreateArray() : NULL};
    if (hc_tree_each(list_row, &l, &err) < 0)
        return hc_report(&err);
    if (json) {
        char *text = cJSON_Print(l.rows);
        (void)puts(text ? text : "[]");
        cJSON_free(text);
        cJSON_Delete(l.rows);
    } else if (!l.count) {
        (void)puts("no trees: build one with 'hotcell tree build scientific'");
    }
    return HC_EXIT_OK;
}

/* ---- one tree ---- */

static int verify(const char *name)
{
    struct hc_error err, unstamped = {0};
    struct hc_tree t;
    char advice[HC_TREE_ADVICE];
    if (hc_tree_open(&t, name, &err) < 0)
        return hc_report(&err);
    int rc = hc_tree_verify(&t, stdout, &unstamped, &err);
    hc_tree_advice(&t, advice);
    hc_tree_finish(&t);
    if (rc < 0)
        return hc_report(&err);
    if (rc == 0)
        (void)printf("%s: every entry is as it was built (%s)\n", name, t.id);
    else
        hc_warn("tree '%s' is not what it was: %s; or restore it, and verify it again", name, advice);
    if (rc == 0 && *unstamped.text)
        hc_warn("tree '%s' has no new stamps: %s", name, unstamped.text);
    return rc == 0 ? HC_EXIT_OK : HC_EXIT_GUEST;
}

/* Verifies all trees, also after one that cannot be read. */
static int cmd_verify(int argc, char **argv)
{
    int worst = HC_EXIT_OK;
    if (argc < 2)
        return hc_usage("tree", "verify: expected a NAME or ID");
    for (int i = 1; i < argc; i++) {
        int status = verify(argv[i]);
        (void)fflush(stdout); /* keeps the order with messages on stderr */
        worst = status > worst ? status : worst;
    }
    return worst;
}

static int cmd_remove(int argc, char **argv)
{
    struct hc_error err;
    if (argc != 2)
        return hc_usage("tree", "remove: expected one NAME or ID");
    return hc_tree_remove(argv[1], &err) < 0 ? hc_report(&err) : HC_EXIT_OK;
}

static int cmd_path(int argc, char **argv)
{
    struct hc_error err;
    struct hc_tree t;
    if (argc != 2)
        return hc_usage("tree", "path: expected one NAME or ID");
    if (hc_tree_open(&t, argv[1], &err) < 0)
        return hc_report(&err);
    (void)printf("%.*s\n", (int)(strrchr(t.path, '/') - t.path), t.path);
    hc_tree_finish(&t);
    return HC_EXIT_OK;
}

int hc_cmd_tree(int argc, char **argv)
{
    static const struct hc_command actions[] = {
        {"build", "", cmd_build},   {"list", "", cmd_list}, {"verify", "", cmd_verify},
        {"remove", "", cmd_remove}, {"path", "", cmd_path},
    };
    if (hc_wants_help(argc, argv)) {
        (void)fputs(help, stdout);
        return HC_EXIT_OK;
    }
    for (size_t i = 0; argc > 1 && i < sizeof actions / sizeof *actions; i++)
        if (strcmp(argv[1], actions[i].name) == 0)
            return actions[i].run(argc - 1, argv + 1);
    return hc_usage("tree", "expected build, list, verify, remove or path");
}
