/* hotcell tree build|update|extend - makes trees and layers, by programs in Python that fill a directory of
 * the store. */
#include "cli/tree.h"

#include "base/arguments.h"
#include "base/fd.h"
#include "base/state.h"
#include "cell/tree.h"
#include "cli/cli.h"
#include "policy/policy.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MOST_MODULES   64                                            /* most --module of a layer */
#define MOST_SHIMS     8                                             /* more than `hc_python_abis` has */
#define MOST_ARGUMENTS (2 * (MOST_MODULES + HC_MAX_TREE_LAYERS + 8)) /* most arguments of a builder */

/* ---- the builder's process ---- */

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

static int wait_for(pid_t pid, enum hc_tree_kind kind, struct hc_error *err)
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
    return hc_fail_as(err, WEXITSTATUS(status), 0, "the %s was not built",
                      kind == HC_KIND_LAYER ? "layer" : "tree");
}

/* What a builder makes. */
struct product {
    enum hc_tree_kind kind;
    const char *script;               /* the builder's program, in "rootfs" */
    const char *argv[MOST_ARGUMENTS]; /* arguments for it; borrowed */
    size_t argc;                      /* number of `argv` */
    const char *name;                 /* name that the store gives the product */
};

/* Add an option and its value to the arguments. */
static void add_argument(struct product *p, const char *option, const char *value)
{
    if (value && p->argc + 2 <= sizeof p->argv / sizeof *p->argv) {
        p->argv[p->argc++] = option;
        p->argv[p->argc++] = value;
    }
}

static int run_builder(const struct product *p, const char *staging, struct hc_error *err)
{
    char dir[PATH_MAX], script[PATH_MAX + 16];
    const char *argv[MOST_ARGUMENTS + 6] = {HC_HOST_PYTHON, "-I", script, "--staging", staging};
    if (hc_data_dir("rootfs", dir, err) < 0)
        return -1;
    (void)snprintf(script, sizeof script, "%s/%s", dir, p->script);
    memcpy(argv + 5, p->argv, p->argc * sizeof *argv);
    pid_t pid;
    int rc = posix_spawn(&pid, HC_HOST_PYTHON, NULL, NULL, (char *const *)argv, environ);
    if (rc)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, rc, "start the tree builder with " HC_HOST_PYTHON);
    builder = pid;
    if (ended_by)
        (void)kill(pid, SIGTERM);
    return wait_for(pid, p->kind, err);
}

/* Fill a staging directory, make it an entry of the store, and print its ID and name. */
static int make(const struct product *p, struct hc_error *err)
{
    char staging[PATH_MAX], id[HC_SHA256_HEX];
    hc_autofd lock = -1;
    if (hc_tree_stage(p->kind, staging, &lock, err) < 0)
        return -1;
    watch_signals(); /* after SIGKILL, the next build removes the incomplete tree */
    int rc = run_builder(p, staging, err);
    if (rc == 0)
        rc = hc_tree_adopt(p->kind, staging, p->name, id, err);
    if (rc < 0) {
        hc_tree_discard(staging);
        end_by_signal();
        return -1;
    }
    (void)printf("%s %s\n", id, p->name);
    return 0;
}

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
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "there is no recipe '%s': expected base, minimal-scientific, scientific, scientific-more, shell "
            "or a path with a slash",
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

/* Tell the builder which shims there are, as ABI=PATH, and as ABI= for which Python there could be one.
 * `shims` owns the texts. */
static int add_shims(struct product *p, char shims[MOST_SHIMS][PATH_MAX + 16], struct hc_error *err)
{
    char path[PATH_MAX];
    struct hc_error missing;
    size_t count = 0;
    bool any = false;
    for (const char *const *abi = hc_python_abis; *abi && count < MOST_SHIMS; abi++) {
        bool there = hc_shim_path(*abi, path, &missing) == 0;
        (void)snprintf(shims[count], sizeof shims[count], "%s=%s", *abi, there ? path : "");
        add_argument(p, "--shim", shims[count++]);
        any |= there;
    }
    return any ? 0 : hc_shim_path(HC_PYTHON_ABI, path, err);
}

static int build(const char *recipe, const char *name, const char *python, struct hc_error *err)
{
    char file[PATH_MAX], chosen[PATH_MAX], shims[MOST_SHIMS][PATH_MAX + 16];
    if (find_recipe(recipe, file, err) < 0)
        return -1;
    default_name(recipe, chosen, sizeof chosen);
    struct product p = {.kind = HC_KIND_TREE, .script = "build.py", .name = name ? name : chosen};
    if (hc_tree_check_name(p.name, err) < 0 || add_shims(&p, shims, err) < 0)
        return -1;
    add_argument(&p, "--recipe", file);
    add_argument(&p, "--python", python);
    return make(&p, err);
}

/* Checks that the recipe exists, and that the tree's name is valid. */
static int check_recipe(const char *recipe, const char *name, struct hc_error *err)
{
    char file[PATH_MAX], chosen[PATH_MAX];
    default_name(recipe, chosen, sizeof chosen);
    return find_recipe(recipe, file, err) < 0 ? -1 : hc_tree_check_name(name ? name : chosen, err);
}

int hc_tree_build(int argc, char **argv)
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

/* ---- update ---- */

/* What a tree was built from, as its builder noted. */
static int read_origin(const struct hc_tree *t, char recipe[PATH_MAX], char python[PATH_MAX],
                       struct hc_error *err)
{
    cJSON *meta = hc_tree_meta(t);
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(meta, "from");
    const char *path = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(from, "recipe"));
    const char *of = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(from, "python"));
    bool known = path && snprintf(recipe, PATH_MAX, "%s", path) < PATH_MAX &&
                 snprintf(python, PATH_MAX, "%s", of ? of : "") < PATH_MAX;
    cJSON_Delete(meta);
    if (known)
        return 0;
    char advice[HC_TREE_ADVICE];
    hc_tree_advice(t, advice);
    return hc_fail_as(err, HC_EXIT_DATA, 0, "tree '%s': nobody noted what it was built from: %s", t->name,
                      advice);
}

/* Build a tree anew under its name. */
static int update(const char *name, struct hc_error *err)
{
    struct hc_tree was, now;
    char recipe[PATH_MAX], python[PATH_MAX];
    if (strchr(name, HC_LAYER_SIGN))
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "%s: a layer is made anew by 'hotcell tree extend', of newer wheels", name);
    if (hc_tree_check_name(name, err) < 0 || hc_tree_open(&was, name, err) < 0)
        return -1;
    int rc = read_origin(&was, recipe, python, err);
    hc_tree_finish(&was);
    if (rc < 0 || build(recipe, name, *python ? python : NULL, err) < 0 || hc_tree_open(&now, name, err) < 0)
        return -1;
    if (strcmp(was.id, now.id) == 0)
        hc_info("tree '%s' was up to date", name);
    else
        hc_info("tree '%s' was %.12s, to which 'hotcell tree rollback %s' goes back", name, was.id, name);
    hc_tree_finish(&now);
    return 0;
}

int hc_tree_update(int argc, char **argv)
{
    struct hc_error err;
    if (argc < 2)
        return hc_usage("tree", "update: expected a NAME");
    for (int i = 1; i < argc; i++)
        if (update(argv[i], &err) < 0)
            return hc_report(&err);
    return HC_EXIT_OK;
}

/* ---- extend ---- */

struct extension {
    const char *name, *wheels, *requirements, *venv, *conda, *recipe; /* as given; NULL: not given */
    const char *modules[MOST_MODULES];                                /* paths of modules */
    size_t module_count;                                              /* number of `modules` */
};

static int check_extension(const struct extension *e)
{
    if (!e->name)
        return hc_usage("tree", "extend: expected --name NAME, the layer's name");
    if (!e->wheels != !e->requirements)
        return hc_usage("tree", "extend: --wheels DIR and --requirements FILE go together");
    if (!e->wheels && !e->module_count && !e->venv && !e->conda && !e->recipe)
        return hc_usage(
            "tree", "extend: expected --wheels with --requirements, --module, --venv, --conda or --recipe");
    return HC_EXIT_OK;
}

static int extend(const struct hc_tree *base, const char *base_name, const struct extension *e,
                  struct hc_error *err)
{
    char recipe[PATH_MAX];
    struct product p = {.kind = HC_KIND_LAYER, .script = "extend.py", .name = e->name};
    if (e->recipe && find_recipe(e->recipe, recipe, err) < 0)
        return -1;
    add_argument(&p, "--base", base_name);
    add_argument(&p, "--base-id", base->id);
    add_argument(&p, "--base-root", base->path);
    for (size_t i = 0; i < base->layer_count; i++)
        add_argument(&p, "--base-root", base->layers[i].path);
    add_argument(&p, "--wheels", e->wheels);
    add_argument(&p, "--requirements", e->requirements);
    for (size_t i = 0; i < e->module_count; i++)
        add_argument(&p, "--module", e->modules[i]);
    add_argument(&p, "--venv", e->venv);
    add_argument(&p, "--conda", e->conda);
    add_argument(&p, "--recipe", e->recipe ? recipe : NULL);
    return hc_tree_check_name(e->name, err) < 0 ? -1 : make(&p, err);
}

/* The member of an extension that an option sets. */
static const char **member_of(struct extension *e, int opt)
{
    switch (opt) {
    case 'n':
        return &e->name;
    case 'w':
        return &e->wheels;
    case 'r':
        return &e->requirements;
    case 'v':
        return &e->venv;
    case 'c':
        return &e->conda;
    case 'R':
        return &e->recipe;
    default:
        return e->module_count < MOST_MODULES ? &e->modules[e->module_count++] : NULL;
    }
}

int hc_tree_extend(int argc, char **argv)
{
    static const struct option options[] = {
        {"name", required_argument, NULL, 'n'},         {"wheels", required_argument, NULL, 'w'},
        {"requirements", required_argument, NULL, 'r'}, {"module", required_argument, NULL, 'm'},
        {"venv", required_argument, NULL, 'v'},         {"conda", required_argument, NULL, 'c'},
        {"recipe", required_argument, NULL, 'R'},       {NULL, 0, NULL, 0}};
    struct extension e = {0};
    struct hc_error err;
    int opt;
    while ((opt = hc_getopt(argc, argv, ":", options)) != -1) {
        if (opt == ':')
            return hc_usage("tree", "%s needs a value", argv[optind - 1]);
        if (opt == '?')
            return hc_unknown_option("tree", options, argv[optind - 1]);
        const char **member = member_of(&e, opt);
        if (!member)
            return hc_usage("tree", "extend: at most %d modules", MOST_MODULES);
        *member = optarg;
    }
    if (argc - optind != 1)
        return hc_usage("tree", "extend: expected one BASE, the tree for which the layer is made");
    int status = check_extension(&e);
    if (status)
        return status;
    struct hc_tree base;
    if (hc_tree_open(&base, argv[optind], &err) < 0)
        return hc_report(&err);
    int rc = extend(&base, argv[optind], &e, &err);
    hc_tree_finish(&base);
    return rc < 0 ? hc_report(&err) : HC_EXIT_OK;
}
