/* hotcell tree - manages the store of trees. */
#include "cli/cli.h"
#include "cli/tree.h"

#include "base/arguments.h"
#include "base/fd.h"
#include "cell/tree.h"
#include "json/json.h"
#include "policy/policy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: hotcell tree build [--name NAME] [--python PATH] RECIPE...\n"
    "       hotcell tree extend --name NAME [--wheels DIR --requirements FILE] [--module PATH]... [--venv "
    "DIR] [--conda DIR] [--recipe RECIPE] BASE\n"
    "       hotcell tree update NAME...\n"
    "       hotcell tree rollback NAME\n"
    "       hotcell tree list [--json]\n"
    "       hotcell tree show [--json] NAME|ID...\n"
    "       hotcell tree diff [--json] NAME|ID NAME|ID\n"
    "       hotcell tree outdated [--json] [NAME|ID...]\n"
    "       hotcell tree sbom NAME|ID\n"
    "       hotcell tree verify NAME|ID...\n"
    "       hotcell tree remove NAME|ID\n"
    "       hotcell tree prune [--previous] [--remove]\n"
    "       hotcell tree path NAME|ID\n\n"
    "With '+' before its name, rollback, show, diff, sbom, verify, remove and path take a layer.\n"
    "RECIPE is 'base', 'minimal-scientific', 'scientific', 'scientific-more', 'shell', or a path to a "
    "recipe\n"
    "(with a slash).\n"
    "--python PATH takes the distributions from that interpreter's (virtual) environment.\n";

/* ---- list ---- */

/* A list of trees that is being printed. */
struct listing {
    cJSON *rows; /* a list of trees, owned; NULL: print text */
    int count;   /* number of trees so far */
    bool layer;  /* layers are being listed */
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

static void list_row(void *ctx, const char *bare, const char *id, const char *path)
{
    struct listing *l = ctx;
    char name[HC_LAYER_NAME + 1];
    (void)snprintf(name, sizeof name, "%s%s", l->layer && *bare ? "+" : "", bare);
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
    if (hc_tree_each(HC_KIND_TREE, list_row, &l, &err) < 0)
        return hc_report(&err);
    bool none = !l.count;
    l.layer = true;
    if (hc_tree_each(HC_KIND_LAYER, list_row, &l, &err) < 0)
        return hc_report(&err);
    if (json) {
        char *text = cJSON_Print(l.rows);
        (void)puts(text ? text : "[]");
        cJSON_free(text);
        cJSON_Delete(l.rows);
    } else if (none) {
        (void)puts("no trees: build one with 'hotcell tree build scientific'");
    }
    return HC_EXIT_OK;
}

/* ---- one tree ---- */

/* Open what a user names: a tree, with its layers, or "+LAYER" alone. */
static int open_named(struct hc_tree *t, const char *name, struct hc_error *err)
{
    return name[0] == HC_LAYER_SIGN ? hc_layer_open(t, name + 1, err) : hc_tree_open(t, name, err);
}

static int verify_one(const struct hc_tree *t, const char *name)
{
    struct hc_error err, unstamped = {0};
    char advice[HC_TREE_ADVICE];
    int rc = hc_tree_verify(t, stdout, &unstamped, &err);
    hc_tree_advice(t, advice);
    if (rc < 0)
        return hc_report(&err);
    if (rc == 0)
        (void)printf("%s: every entry is as it was built (%s)\n", name, t->id);
    else
        hc_warn("tree '%s' is not what it was: %s; or restore it, and verify it again", name, advice);
    if (rc == 0 && *unstamped.text)
        hc_warn("tree '%s' has no new stamps: %s", name, unstamped.text);
    return rc == 0 ? HC_EXIT_OK : HC_EXIT_GUEST;
}

static int verify(const char *name)
{
    struct hc_error err;
    struct hc_tree t;
    if (open_named(&t, name, &err) < 0)
        return hc_report(&err);
    int worst = verify_one(&t, t.layer_count ? t.name : name);
    for (size_t i = 0; i < t.layer_count; i++) {
        int status = verify_one(&t.layers[i], t.layers[i].name);
        worst = status > worst ? status : worst;
    }
    hc_tree_finish(&t);
    return worst;
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
    bool layer = argv[1][0] == HC_LAYER_SIGN;
    return hc_tree_remove(layer ? HC_KIND_LAYER : HC_KIND_TREE, argv[1] + layer, &err) < 0 ? hc_report(&err)
                                                                                           : HC_EXIT_OK;
}

static int cmd_path(int argc, char **argv)
{
    struct hc_error err;
    struct hc_tree t;
    if (argc != 2)
        return hc_usage("tree", "path: expected one NAME or ID");
    if (open_named(&t, argv[1], &err) < 0)
        return hc_report(&err);
    (void)printf("%.*s\n", (int)(strrchr(t.path, '/') - t.path), t.path);
    hc_tree_finish(&t);
    return HC_EXIT_OK;
}

static int cmd_rollback(int argc, char **argv)
{
    struct hc_error err;
    char id[HC_SHA256_HEX];
    if (argc != 2)
        return hc_usage("tree", "rollback: expected one NAME");
    bool layer = argv[1][0] == HC_LAYER_SIGN;
    if (hc_tree_rollback(layer ? HC_KIND_LAYER : HC_KIND_TREE, argv[1] + layer, id, &err) < 0)
        return hc_report(&err);
    (void)printf("%s %s\n", id, argv[1]);
    return HC_EXIT_OK;
}

/* ---- prune ---- */

/* A removal of what nothing needs, as it is reported. */
struct pruned {
    bool layers, remove; /* layers are looked at; what nothing needs is removed */
    int count;           /* entries that nothing needs */
};

static void report_pruned(void *ctx, const char *id, const char *why)
{
    struct pruned *p = ctx;
    p->count += !why;
    (void)printf("%-9s %s%.12s%s%s\n",
                 why         ? "kept"
                 : p->remove ? "removed"
                             : "unneeded",
                 p->layers ? "+" : "", id, why ? "  " : "", why ? why : "");
}

static int cmd_prune(int argc, char **argv)
{
    static const struct option options[] = {
        {"remove", no_argument, NULL, 'r'}, {"previous", no_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
    struct pruned p = {0};
    struct hc_error err;
    bool previous = false;
    int opt;
    while ((opt = hc_getopt(argc, argv, ":", options)) != -1) {
        if (opt != 'r' && opt != 'p')
            return hc_unknown_option("tree", options, argv[optind - 1]);
        p.remove |= opt == 'r';
        previous |= opt == 'p';
    }
    if (optind != argc)
        return hc_usage("tree", "prune: expected no NAME: it looks at all that have none");
    for (int kind = HC_KIND_TREE; kind <= HC_KIND_LAYER; kind++) {
        p.layers = kind == HC_KIND_LAYER;
        if (hc_tree_prune((enum hc_tree_kind)kind, previous, p.remove, report_pruned, &p, &err) < 0)
            return hc_report(&err);
    }
    if (p.count && !p.remove)
        (void)printf("nothing was removed: 'hotcell tree prune%s --remove' removes what is unneeded\n",
                     previous ? " --previous" : "");
    return HC_EXIT_OK;
}

int hc_cmd_tree(int argc, char **argv)
{
    static const struct hc_command actions[] = {
        {"build", "", hc_tree_build},   {"extend", "", hc_tree_extend},
        {"update", "", hc_tree_update}, {"rollback", "", cmd_rollback},
        {"list", "", cmd_list},         {"show", "", hc_tree_show},
        {"diff", "", hc_tree_diff},     {"outdated", "", hc_tree_outdated},
        {"sbom", "", hc_tree_sbom},     {"verify", "", cmd_verify},
        {"remove", "", cmd_remove},     {"prune", "", cmd_prune},
        {"path", "", cmd_path},
    };
    if (hc_wants_help(argc, argv)) {
        (void)fputs(help, stdout);
        return HC_EXIT_OK;
    }
    for (size_t i = 0; argc > 1 && i < sizeof actions / sizeof *actions; i++)
        if (strcmp(argv[1], actions[i].name) == 0)
            return actions[i].run(argc - 1, argv + 1);
    return hc_usage(
        "tree", "expected build, extend, update, rollback, list, show, diff, outdated, sbom, verify, remove, "
                "prune or path");
}
