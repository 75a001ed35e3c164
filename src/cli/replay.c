/* hotcell replay - runs a saved program again as it ran before, and prints how the results differ.
 *
 * The program's file and its record lie among results, where a program may have put files of its own: both
 * are read as strictly as a spec. A record that names a file of this host does not give this file to the
 * program, unless the file has the hash that the record says, which a program can know only of data that it
 * has seen. Otherwise the user has to name the file. */
#include "cli/cli.h"

#include "base/arguments.h"
#include "base/fd.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "cell/policies.h"
#include "cell/policy_store.h"
#include "cell/record.h"
#include "cell/run.h"
#include "cell/tree.h"
#include "cli/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILE ((size_t)80 << 20) /* most bytes of a program or record */

static const char help[] =
    "usage: hotcell replay [OPTION]... FILE\n"
    "Run a program that 'hotcell run --persist-code' kept once more, with the policy, tree, data, values "
    "and\n"
    "seed of then, and say what came out differently. Exit status: 0 the same, 1 not the same, 65 not the "
    "same\n"
    "program or data.\n\n"
    "  -o, --output DIR     where its files, figures and manifest.json go (hotcell-output/JOB_ID)\n"
    "  -p, --policy POLICY  run under this policy instead of the record's\n"
    "  -t, --tree TREE      run in this tree instead of the record's\n"
    "      --input NAME=FILE\n"
    "                       where this input is now\n"
    "      --stdin FILE     standard input, if the record does not have it\n"
    "      --allow-changed  run although the program, the data or the tree have changed since: under a\n"
    "                       policy, and with data, that are named here\n"
    "      --json           print what differs as JSON\n";

struct replay {
    const char *file, *output, *stdin_path;
    int stdin_fd;                    /* standard input of the program; owned; -1: none */
    const char *policy_name, *tree;  /* named by the user; NULL: those of the record */
    struct hc_job named;             /* has the inputs that the user named; owned */
    bool json_out, allow_changed;    /* --json; --allow-changed */
    char record_name[PATH_MAX];      /* path of the record */
    struct hc_buf code, record_text; /* content of both files; owned */
    struct hc_json record;           /* the record, parsed; owned */
    struct hc_job job;               /* the job that is run again; owned */
    struct hc_policy policy;         /* policy of the job; owned */
    bool changed;                    /* policy, tree or an input differs from the first run's */
    bool unnamed[HC_MAX_INPUTS];     /* inputs of the job that the user has to name */
    struct hc_buf reasons;           /* text: why the job cannot be run as it is; owned */
};

/* ---- reading ---- */

static const struct {
    const char *name;
    int type; /* type of the member, for cJSON */
    const char *expected;
} members[] = {
    {"version", cJSON_Number, "1"},        {"hotcell", cJSON_String, "a string"},
    {"job_id", cJSON_String, "a string"},  {"started", cJSON_String, "a string"},
    {"code", cJSON_Object, "an object"},   {"tree", cJSON_Object, "an object"},
    {"inputs", cJSON_Array, "a list"},     {"spec", cJSON_Object, "an object"},
    {"policy", cJSON_Object, "an object"}, {"outcome", cJSON_Object, "an object"},
    {"missing", cJSON_Array, "a list"}, /* may be absent */
};

static int check_member(const struct hc_json *j, const cJSON *node, struct hc_error *err)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(members[i].name, node->string) != 0)
            continue;
        if ((node->type & 0xff) != members[i].type)
            return hc_json_fail(j, node, false, err, "%s: expected %s, got %s", node->string,
                                members[i].expected, hc_json_kind(node));
        return 0;
    }
    return hc_json_fail(j, node, true, err, "unknown member '%.64s' in a record", node->string);
}

static int check_record(const struct hc_json *j, struct hc_error *err)
{
    const cJSON *node;
    if (!cJSON_IsObject(j->root))
        return hc_json_fail(j, j->root, false, err, "expected an object, got %s", hc_json_kind(j->root));
    cJSON_ArrayForEach(node, j->root)
    {
        if (check_member(j, node, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].name, "missing") != 0 && !hc_json_member(j->root, members[i].name))
            return hc_json_fail(j, j->root, false, err, "expected a member '%s'", members[i].name);
    if (hc_json_member(j->root, "version")->valuedouble != HC_RECORD_VERSION)
        return hc_json_fail(j, hc_json_member(j->root, "version"), false, err, "version: expected %d",
                            HC_RECORD_VERSION);
    return 0;
}

static int read_record(struct replay *r, struct hc_error *err)
{
    if (hc_saved_code_record(r->file, r->record_name, sizeof r->record_name) < 0)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: expected a file as --persist-code makes, run_....py or run_....command.json",
                          r->file);
    if (hc_read_file(AT_FDCWD, r->record_name, &r->record_text, MAX_FILE, err) < 0)
        return hc_ctx(err, "the record of %s", r->file);
    const char *text = r->record_text.data ? r->record_text.data : "";
    if (hc_json_parse(&r->record, r->record_name, text, r->record_text.len, err) < 0)
        return -1;
    return check_record(&r->record, err);
}

/* Adds a reason why the job cannot be run as it is; check_reasons prints all of them at once. */
static void add_reason(struct replay *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add_reason(struct replay *r, const char *fmt, ...)
{
    char text[PATH_MAX + 300];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)hc_buf_fmt(&r->reasons, "%s%s", r->reasons.len ? "; " : "", text);
}

/* Warns that a part of the job differs from the first run's. */
static void note_change(struct replay *r, const char *what, const char *path)
{
    r->changed = true;
    add_reason(r, "%s%s%s has changed since", what, *what ? " " : "", path);
}

/* Fails if there is a reason, and names all options that are missing. */
static int check_reasons(struct replay *r, struct hc_error *err)
{
    hc_autobuf options = {0};
    if (r->changed && !r->allow_changed)
        (void)hc_buf_str(&options, " --allow-changed");
    if (r->changed && !r->policy_name)
        (void)hc_buf_str(&options, " -p POLICY");
    for (size_t i = 0; i < r->job.input_count; i++)
        if (r->unnamed[i])
            (void)hc_buf_fmt(&options, " --input %s=FILE", r->job.inputs[i].name);
    if (options.failed || r->reasons.failed)
        return hc_fail(err, ENOMEM, "%s", r->file);
    if (!options.len)
        return 0;
    return hc_fail_as(err, HC_EXIT_DATA, 0, "%.600s%s (to run it all the same, give%s)", r->reasons.data,
                      r->reasons.len > 600 ? "..." : "", options.data);
}

static int read_code(struct replay *r, struct hc_error *err)
{
    if (hc_read_file(AT_FDCWD, r->file, &r->code, MAX_FILE, err) < 0)
        return -1;
    size_t len;
    const char *code = hc_saved_code_program(r->code.data ? r->code.data : "", r->code.len, &len);
    const char *sha256 = hc_json_text(hc_json_member(r->record.root, "code"), "sha256");
    if (!hc_saved_code_is(code, len, sha256))
        note_change(r, "the program in", r->file);
    hc_autobuf copy = {0};
    (void)hc_buf_add(&copy, code, len);
    free(r->job.code);
    r->job.code_len = len;
    r->job.code = hc_buf_take(&copy);
    return r->job.code ? 0 : hc_fail(err, ENOMEM, "%s", r->file);
}

/* Makes the job a command, if the record says that the file has the arguments of one. */
static int take_command(struct replay *r, struct hc_error *err)
{
    struct hc_job command;
    hc_autobuf spec = {0};
    if (!hc_json_is_true(hc_json_member(r->record.root, "code"), "command"))
        return 0;
    (void)hc_buf_str(&spec, "{\"command\":");
    (void)hc_buf_add(&spec, r->job.code, r->job.code_len);
    if (hc_buf_str(&spec, "}") < 0)
        return hc_fail(err, ENOMEM, "%s", r->file);
    if (hc_job_parse(&command, r->file, spec.data, spec.len, err) < 0)
        return -1;
    free(r->job.code);
    r->job.code = command.code;
    r->job.code_len = command.code_len;
    r->job.is_command = true;
    command.code = NULL;
    hc_job_finish(&command);
    return 0;
}

static int read_spec(struct replay *r, struct hc_error *err)
{
    size_t len;
    const char *text = hc_json_source(&r->record, hc_json_member(r->record.root, "spec"), &len);
    char name[PATH_MAX + 8];
    (void)snprintf(name, sizeof name, "%s: spec", r->record_name);
    if (!text)
        return hc_fail(err, ENOMEM, "%s", name);
    /* The program stands in a file of its own, and not in the record. */
    hc_autobuf spec = {0};
    (void)hc_buf_str(&spec,
                     hc_json_member(r->record.root, "spec")->child ? "{\"code\":\"\"," : "{\"code\":\"\"");
    (void)hc_buf_add(&spec, text + 1, len - 1);
    if (spec.failed)
        return hc_fail(err, ENOMEM, "%s", name);
    if (hc_job_parse(&r->job, name, spec.data, spec.len, err) < 0)
        return -1;
    if (r->job.override_count || r->job.policy || r->job.sign || r->job.output_dir)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: expected inputs, return, vars, stdin, args, env, seed, tenant and labels only",
                          name);
    return 0;
}

static int give_policy(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                       struct hc_error *err)
{
    const struct replay *r = ctx;
    size_t len = 0;
    if (from)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "a recorded policy extends nothing");
    const char *source = hc_json_source(&r->record, hc_json_member(r->record.root, "policy"), &len);
    (void)hc_buf_add(text, source ? source : "", source ? len : 0);
    *file = strdup(name);
    return source && *file && !text->failed ? 0 : hc_fail(err, ENOMEM, "%s", name);
}

static int load_policy(struct replay *r, struct hc_error *err)
{
    char name[PATH_MAX + 10];
    if (r->policy_name)
        return hc_policy_load(&r->policy, r->policy_name, hc_policies_read, NULL, err);
    (void)snprintf(name, sizeof name, "%s: policy", r->record_name);
    return hc_policy_load(&r->policy, name, give_policy, r, err) < 0 ? hc_exit_as(err, HC_EXIT_DATA) : 0;
}

/* Has the tree the layers of the record, in the same order? */
static bool same_layers(const struct hc_tree *tree, const cJSON *then)
{
    if ((size_t)cJSON_GetArraySize(then) != tree->layer_count)
        return false;
    for (size_t i = 0; i < tree->layer_count; i++)
        if (strcmp(hc_json_text(cJSON_GetArrayItem(then, (int)i), "sha256"), tree->layers[i].id) != 0)
            return false;
    return true;
}

/* Chooses the tree with the record's ID; without one, or with layers, the tree of the record's name,
 * which may have changed. */
static int choose_tree(struct replay *r, struct hc_error *err)
{
    struct hc_tree tree;
    const char *then = hc_json_text(hc_json_member(r->record.root, "tree"), "sha256");
    bool known = hc_is_sha256_hex(then, strlen(then));
    const cJSON *layers = hc_json_member(hc_json_member(r->record.root, "tree"), "layers");
    if (!r->tree && known && !layers && hc_tree_open(&tree, then, err) == 0) {
        hc_tree_finish(&tree);
        (void)snprintf(r->policy.tree, sizeof r->policy.tree, "%s", then);
        return 0;
    }
    if (r->tree)
        (void)snprintf(r->policy.tree, sizeof r->policy.tree, "%s", r->tree);
    else if (!r->policy_name && strchr(r->policy.tree, '/'))
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "%s: the tree %.256s is not among those built here: name it with --tree if it is one",
            r->record_name, r->policy.tree);
    if (hc_tree_open(&tree, r->policy.tree, err) < 0)
        return -1;
    bool same = known && strcmp(tree.id, then) == 0 && same_layers(&tree, layers);
    hc_tree_finish(&tree);
    if (same)
        return 0;
    if (!r->tree) {
        note_change(r, "the tree", r->policy.tree);
        return 0;
    }
    r->changed = true;
    add_reason(r, "the tree %s that is asked for is another one than then, %.12s", r->tree,
               known ? then : "which the record does not name");
    return 0;
}

static int read_policy(struct replay *r, struct hc_error *err)
{
    if (load_policy(r, err) < 0)
        return -1;
    if (r->job.dir_count || r->job.workdir)
        return hc_fail_as(
            err, HC_EXIT_DATA, 0,
            "%s: the program had directories of the host: a record gives none, as a program may "
            "have left it (run the program with 'hotcell run --dir' instead)",
            r->record_name);
    if (r->policy.tools.count)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: the program had tools: a record does not say what is run on this host",
                          r->record_name);
    return hc_policy_begin(&r->policy, err) < 0 ? -1 : choose_tree(r, err);
}

static int hash_file(const char *path, char hex[HC_SHA256_HEX], struct hc_error *err)
{
    static char chunk[1 << 16];
    hc_autofd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct hc_hash h;
    struct stat st;
    ssize_t n = -1;
    hc_hash_init(&h);
    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s is not a regular file", path);
    while (fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0)
        hc_hash_add(&h, chunk, (size_t)n);
    if (n < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "%s", path);
    hc_hash_hex(&h, hex);
    return 0;
}

static struct hc_input *find_input(struct hc_job *job, const char *name)
{
    for (size_t i = 0; i < job->input_count; i++)
        if (strcmp(job->inputs[i].name, name) == 0)
            return &job->inputs[i];
    return NULL;
}

/* Moves the user's paths of inputs into the job. */
static int place_inputs(struct replay *r, struct hc_error *err)
{
    for (size_t i = 0; i < r->named.input_count; i++) {
        struct hc_input *given = &r->named.inputs[i], *in = find_input(&r->job, given->name);
        if (!in)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: there is no input '%s' to be named", r->record_name,
                              given->name);
        char *path = in->path;
        in->path = given->path;
        given->path = path; /* swapped, so that each path has one owner */
    }
    return 0;
}

/* The hash that the record has for an input; "": it has none. */
static const char *hash_then(const struct replay *r, const char *name)
{
    const cJSON *entry;
    const char *then = "";
    cJSON_ArrayForEach(entry, hc_json_member(r->record.root, "inputs"))
    {
        if (strcmp(hc_json_text(entry, "name"), name) == 0)
            then = hc_json_text(entry, "sha256");
    }
    return then;
}

/* Checks that an input which only the record names has the same content as at the first run. */
static int check_inputs(struct replay *r, struct hc_error *err)
{
    for (size_t i = 0; i < r->job.input_count; i++) {
        const struct hc_input *in = &r->job.inputs[i];
        char hex[HC_SHA256_HEX], what[300];
        (void)snprintf(what, sizeof what, "input '%.256s':", in->name);
        if (hash_file(in->path, hex, err) < 0) {
            if (err->exit != HC_EXIT_DATA)
                return hc_ctx(err, "input '%s'", in->name);
            r->unnamed[i] = true;
            add_reason(r, "%s %s", what, err->text);
        } else if (strcmp(hex, hash_then(r, in->name)) != 0) {
            r->unnamed[i] = !find_input(&r->named, in->name);
            note_change(r, what, in->path);
        }
    }
    return 0;
}

/* Does the record say that the first run had this, and it has not? */
static bool is_missing(const struct replay *r, const char *what)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, hc_json_member(r->record.root, "missing"))
    {
        if (cJSON_IsString(entry) && strcmp(entry->valuestring, what) == 0)
            return true;
    }
    return false;
}

/* Takes standard input from the user's file. Its content is the user's choice, as that of a job is. */
static int take_stdin(struct replay *r, struct hc_error *err)
{
    if (!r->stdin_path && !is_missing(r, HC_RECORD_NO_STDIN))
        return 0;
    if (!r->stdin_path)
        return hc_fail_as(err, HC_EXIT_DATA, 0,
                          "%s: the program's standard input is not in the record: give --stdin FILE",
                          r->record_name);
    r->stdin_fd = open(r->stdin_path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (r->stdin_fd < 0)
        return hc_fail_as(err, HC_EXIT_DATA, errno, "--stdin %s", r->stdin_path);
    hc_job_drop_stdin(&r->job);
    r->job.has_stdin = true;
    return 0;
}

static int prepare(struct replay *r, struct hc_error *err)
{
    if (read_record(r, err) < 0 || read_spec(r, err) < 0 || read_code(r, err) < 0 || take_command(r, err) < 0)
        return hc_exit_as(err, HC_EXIT_DATA);
    if (hc_job_check(&r->job, err) < 0)
        return hc_ctx(err, "%s", r->file);
    if (place_inputs(r, err) < 0 || take_stdin(r, err) < 0)
        return -1;
    if (check_inputs(r, err) < 0 || read_policy(r, err) < 0 || check_reasons(r, err) < 0)
        return -1;
    if (!r->output)
        return 0;
    r->job.output_dir = strdup(r->output);
    return r->job.output_dir ? 0 : hc_fail(err, ENOMEM, "%s", r->output);
}

/* ---- comparing ---- */

static bool add_difference(cJSON *list, const char *what, const cJSON *was, const cJSON *is)
{
    cJSON *entry = cJSON_CreateObject();
    bool ok = entry && cJSON_AddStringToObject(entry, "what", what) && cJSON_AddItemToArray(list, entry);
    if (!ok) {
        cJSON_Delete(entry);
        return false;
    }
    return cJSON_AddItemToObject(entry, "was", was ? cJSON_Duplicate(was, true) : cJSON_CreateNull()) &&
           cJSON_AddItemToObject(entry, "is", is ? cJSON_Duplicate(is, true) : cJSON_CreateNull());
}

static const cJSON *find(const cJSON *list, const char *key, const char *value)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list)
    {
        if (strcmp(hc_json_text(entry, key), value) == 0)
            return entry;
    }
    return NULL;
}

static bool compare_files(cJSON *list, const cJSON *was, const cJSON *is)
{
    const cJSON *entry;
    bool ok = true;
    cJSON_ArrayForEach(entry, was)
    {
        const cJSON *now = find(is, "path", hc_json_text(entry, "path"));
        if (!now || strcmp(hc_json_text(now, "sha256"), hc_json_text(entry, "sha256")) != 0)
            ok = ok && add_difference(list, "file", entry, now);
    }
    cJSON_ArrayForEach(entry, is)
    {
        if (!find(was, "path", hc_json_text(entry, "path")))
            ok = ok && add_difference(list, "file", NULL, entry);
    }
    return ok;
}

/* Figures have new names in each run: so their contents are compared. */
static bool compare_figures(cJSON *list, const cJSON *was, const cJSON *is)
{
    const cJSON *entry;
    bool ok = true;
    cJSON_ArrayForEach(entry, was)
    {
        if (!find(is, "sha256", hc_json_text(entry, "sha256")))
            ok = ok && add_difference(list, "figure", entry, NULL);
    }
    cJSON_ArrayForEach(entry, is)
    {
        if (!find(was, "sha256", hc_json_text(entry, "sha256")))
            ok = ok && add_difference(list, "figure", NULL, entry);
    }
    if (cJSON_GetArraySize(list) == 0 && cJSON_GetArraySize(was) != cJSON_GetArraySize(is))
        ok = ok && add_difference(list, "figures", was, is);
    return ok;
}

/* Adds the reason of the new status to a difference of statuses; the record does not have the old one's. */
static bool give_reason(cJSON *list, const char *reason)
{
    cJSON *entry = cJSON_GetArrayItem(list, 0);
    hc_autobuf clean = {0};
    if (!entry || strcmp(hc_json_text(entry, "what"), "status") != 0 || !*reason)
        return true;
    return hc_utf8_scrub(&clean, reason, strlen(reason)) == 0 &&
           cJSON_AddStringToObject(entry, "reason", clean.data);
}

static cJSON *compare(const cJSON *was, const cJSON *is, const char *reason)
{
    static const char *const plain[] = {"status", "exit_code", "stdout", "value", "results", "returned"};
    cJSON *list = cJSON_CreateArray();
    bool ok = list != NULL;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!cJSON_Compare(hc_json_member(was, plain[i]), hc_json_member(is, plain[i]), true))
            ok = ok &&
                 add_difference(list, plain[i], hc_json_member(was, plain[i]), hc_json_member(is, plain[i]));
    ok = ok && give_reason(list, reason) &&
         compare_files(list, hc_json_member(was, "files"), hc_json_member(is, "files")) &&
         compare_figures(list, hc_json_member(was, "figures"), hc_json_member(is, "figures"));
    if (ok)
        return list;
    cJSON_Delete(list);
    return NULL;
}

/* ---- output ---- */

static void print_side(const char *name, const cJSON *side)
{
    char *text = cJSON_PrintUnformatted(side);
    (void)printf("  %s ", name);
    hc_plain_print(!text || cJSON_IsNull(side) ? "none" : text);
    (void)putchar('\n');
    cJSON_free(text);
}

static void print_text(const struct replay *r, const struct hc_manifest *m, const cJSON *list)
{
    const cJSON *entry;
    if (cJSON_GetArraySize(list) == 0)
        (void)printf("%s: the same as then (%s)\n", r->file, hc_status_name(m->status));
    cJSON_ArrayForEach(entry, list)
    {
        hc_plain_print(hc_json_text(entry, "what"));
        (void)printf(" differs\n");
        print_side("was", hc_json_member(entry, "was"));
        print_side("is ", hc_json_member(entry, "is"));
        if (hc_json_member(entry, "reason"))
            print_side("as ", hc_json_member(entry, "reason"));
    }
    if (cJSON_GetArraySize(list) && is_missing(r, HC_RECORD_NO_FILES))
        (void)printf("The first run had copies of files that were in its output directory before; a replay "
                     "has none.\n");
}

static void print_json(const struct replay *r, const struct hc_run *run, const struct hc_manifest *m,
                       const cJSON *list)
{
    cJSON *root = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(root, "file", r->file);
    (void)cJSON_AddBoolToObject(root, "same", cJSON_GetArraySize(list) == 0);
    (void)cJSON_AddStringToObject(root, "status", hc_status_name(m->status));
    (void)cJSON_AddStringToObject(root, "job_id", m->job_id);
    (void)(run->dest.fd >= 0 ? cJSON_AddStringToObject(root, "output", run->dest.path)
                             : cJSON_AddNullToObject(root, "output"));
    (void)cJSON_AddItemToObject(root, "differences", cJSON_Duplicate(list, true));
    char *text = cJSON_Print(root);
    (void)puts(text ? text : "{}");
    cJSON_free(text);
    cJSON_Delete(root);
}

static int print_result(const struct replay *r, const struct hc_run *run, const struct hc_manifest *m,
                        struct hc_error *err)
{
    cJSON *is = hc_record_outcome(m);
    cJSON *list = is ? compare(hc_json_member(r->record.root, "outcome"), is, m->reason) : NULL;
    int status = cJSON_GetArraySize(list) == 0 ? HC_EXIT_OK : HC_EXIT_GUEST;
    if (!list)
        status = hc_fail(err, ENOMEM, "compare");
    else if (r->json_out)
        print_json(r, run, m, list);
    else
        print_text(r, m, list);
    cJSON_Delete(list);
    cJSON_Delete(is);
    return status;
}

static int run_again(struct replay *r, struct hc_error *err)
{
    hc_autofd cancel = hc_cancel_open(err);
    struct hc_manifest *m = calloc(1, sizeof *m);
    if (cancel < 0 || !m) {
        free(m);
        return cancel < 0 ? -1 : hc_fail(err, ENOMEM, "replay");
    }
    struct hc_run run = {
        .job = &r->job,
        .policy = &r->policy,
        .pass_stdout = -1,
        .pass_stderr = -1,
        .cancel_fd = cancel,
        .stdin_fd = r->stdin_fd < 0 ? 0 : r->stdin_fd,
        .default_dir = "hotcell-output",
        .else_temporary = true,
    };
    hc_autobuf text = {0};
    int status = hc_run(&run, m, err);
    if (hc_run_write_manifest(&run, m, NULL, 0, &text, err) < 0)
        status = -1;
    if (status == 0)
        status = print_result(r, &run, m, err);
    hc_manifest_finish(m);
    free(m);
    hc_run_finish(&run);
    hc_cancel_end(cancel);
    return status;
}

/* Returns 0 or the exit status. */
static int read_option(struct replay *r, int opt)
{
    struct hc_error err;
    switch (opt) {
    case 'o':
        r->output = optarg;
        return 0;
    case 'p':
        r->policy_name = optarg;
        return 0;
    case 't':
        r->tree = optarg;
        return 0;
    case 'i':
        return hc_job_add_input(&r->named, optarg, &err) < 0 ? hc_usage("replay", "--input: %.500s", err.text)
                                                             : 0;
    case 's':
        r->stdin_path = optarg;
        return 0;
    case 'j':
        r->json_out = true;
        return 0;
    default:
        r->allow_changed = true;
        return 0;
    }
}

static int read_options(struct replay *r, int argc, char **argv)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"policy", required_argument, NULL, 'p'},
                                            {"tree", required_argument, NULL, 't'},
                                            {"input", required_argument, NULL, 'i'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"allow-changed", no_argument, NULL, 'c'},
                                            {"stdin", required_argument, NULL, 's'},
                                            {NULL, 0, NULL, 0}};
    int opt;
    optind = 1;
    while ((opt = hc_getopt(argc, argv, ":ho:p:t:", options)) != -1) {
        if (opt == 'h')
            return 1;
        if (opt == ':' || (optarg && !*optarg))
            return hc_usage("replay", "%s needs a value", argv[optind - 1]);
        if (opt == '?')
            return hc_unknown_option("replay", options, argv[optind - 1]);
        int status = read_option(r, opt);
        if (status != 0)
            return status;
    }
    if (r->allow_changed && !r->policy_name)
        return hc_usage(
            "replay",
            "--allow-changed needs --policy, as a record does not say what a changed program may do; and "
            "--input NAME=FILE for data that has changed");
    if (argc - optind != 1)
        return hc_usage("replay", "expected one FILE");
    r->file = argv[optind];
    return 0;
}

int hc_cmd_replay(int argc, char **argv)
{
    struct replay r = {.stdin_fd = -1};
    struct hc_error err = {0};
    int status = read_options(&r, argc, argv);
    if (status == 1) {
        (void)fputs(help, stdout);
        return HC_EXIT_OK;
    }
    if (status != 0)
        return status;
    hc_policy_init(&r.policy);
    status = prepare(&r, &err) < 0 ? -1 : run_again(&r, &err);
    if (status < 0)
        status = hc_report(&err);
    hc_json_finish(&r.record);
    hc_buf_finish(&r.record_text);
    hc_buf_finish(&r.code);
    hc_buf_finish(&r.reasons);
    hc_job_finish(&r.job);
    hc_job_finish(&r.named);
    hc_close_fd(&r.stdin_fd);
    hc_policy_finish(&r.policy);
    return status;
}
