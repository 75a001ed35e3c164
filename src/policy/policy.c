#include "policy/policy.h"

#include "json/names.h"
#include "policy/options.h"
#include "policy/tighten.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

#define MAX_CHAIN    8  /* most policies that extend one another */
#define MAX_SECTIONS 32 /* sections of rules in a policy (rules.h) */

/* Environment variables that a policy must not set: the launcher sets them, or they change how programs are
 * loaded, how memory is managed or how the interpreter works. A trailing '*' stands for any rest. */
static const struct {
    const char *pattern, *reason; /* pattern of the variable's name; a phrase for the message */
    bool policy_may;              /* a policy may set it, a job must not */
} refused_env[] = {
    {"LD_*", "it changes how programs are loaded", false},
    {"GLIBC_TUNABLES", "it changes how programs are loaded", false},
    {"GCONV_PATH", "it names code to load", false},
    {"GETCONF_DIR", "it names programs to run", false},
    {"MALLOC_*", "it changes how memory is managed", false},
    {"PYTHON*", "it changes how the interpreter works", false},
    {"OPENSSL_*", "it names code to load", false},
    {"HOTCELL*", "hotcell sets it", false},
    {"HOME", "hotcell sets it", false},
    {"TMPDIR", "hotcell sets it", false},
    {"LANG", "hotcell sets it", false},
    {"LC_ALL", "hotcell sets LANG, which it would override", false},
    {"OPENBLAS_NUM_THREADS", "hotcell sets it", false},
    {"OMP_NUM_THREADS", "hotcell sets it", false},
    {"OPENBLAS_*", "a warm cell has its libraries loaded before", true},
    {"OMP_*", "a warm cell has its libraries loaded before", true},
    {"MKL_*", "a warm cell has its libraries loaded before", true},
    {"LC_*", "the interpreter has read it when the job comes", true},
    {"PATH", "hotcell sets it", true},
    {"MPLBACKEND", "hotcell sets it", true},
    {"MPLCONFIGDIR", "hotcell sets it", true},
    {"JOBLIB_MULTIPROCESSING", "hotcell sets it", true},
};

const char *hc_env_refusal(const char *name, bool by_job)
{
    for (size_t i = 0; i < COUNT(refused_env); i++)
        if ((by_job || !refused_env[i].policy_may) && fnmatch(refused_env[i].pattern, name, 0) == 0)
            return refused_env[i].reason;
    return NULL;
}

void hc_policy_init(struct hc_policy *p)
{
    *p = (struct hc_policy){0};
    for (size_t i = 0; i < hc_options_count; i++)
        hc_option_init(p, &hc_options[i]);
    hc_maxima_init(&p->max);
}

void hc_policy_finish(struct hc_policy *p)
{
    cJSON_Delete(p->env);
    cJSON_Delete(p->rules);
    hc_tools_finish(&p->tools);
    free(p->description);
    p->env = p->rules = NULL;
    p->description = NULL;
}

/* One policy file that is being read into `policy`. */
struct file {
    struct hc_policy *policy;   /* borrowed, as is `json` */
    const struct hc_json *json; /* the file's document */
    const char *extends;        /* the policy that the file extends; borrowed from `json`; NULL: none */
};

static int wrong_type(const struct file *f, const cJSON *node, const char *what, struct hc_error *err)
{
    return hc_json_fail(f->json, node, false, err, "%s: expected %s, got %s", node->string, what,
                        hc_json_kind(node));
}

static int unknown_member(const struct file *f, const cJSON *node, const char *section,
                          const char *const *known, struct hc_error *err)
{
    char hint[160];
    hc_nearest_option(section, node->string, known, hint, sizeof hint);
    return hc_json_fail(f->json, node, true, err, "unknown member '%.64s'%s%s%s", node->string,
                        *section ? " in " : "", section, hint);
}

static int set_name(struct file *f, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsString(node))
        return wrong_type(f, node, "a name", err);
    if (!hc_is_id(node->valuestring, sizeof f->policy->name - 1))
        return hc_json_fail(
            f->json, node, false, err,
            "name: expected 1 to %zu letters, digits, '.', '_' or '-', not beginning with '.'",
            sizeof f->policy->name - 1);
    (void)snprintf(f->policy->name, sizeof f->policy->name, "%s", node->valuestring);
    return 0;
}

static int set_description(struct file *f, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsString(node))
        return wrong_type(f, node, "a string", err);
    free(f->policy->description);
    f->policy->description = strdup(node->valuestring);
    return f->policy->description ? 0 : hc_fail(err, ENOMEM, "description");
}

static int set_extends(struct file *f, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsString(node) || !*node->valuestring)
        return wrong_type(f, node, "the name of a policy", err);
    return 0; /* load_parent has read the parent already */
}

/* Is `path` an absolute path below /output or /tmp, without ".." and empty parts? */
static bool is_writable_place(const char *path)
{
    size_t root = strncmp(path, "/output/", 8) == 0 ? 8 : strncmp(path, "/tmp/", 5) == 0 ? 5 : 0;
    for (const char *part = path + root; root; part += strspn(part, "/")) {
        size_t len = strcspn(part, "/");
        if (len == 0 || (len == 2 && strncmp(part, "..", 2) == 0))
            return false;
        part += len;
        if (!*part)
            return true;
    }
    return false;
}

static int check_env(const struct file *f, const cJSON *var, struct hc_error *err)
{
    const char *name = var->string;
    if (!hc_is_word(name) || strlen(name) > HC_MAX_ENV_NAME)
        return hc_json_fail(f->json, var, true, err,
                            "env: expected a name of 1 to %d letters, digits and '_', got '%.80s'",
                            HC_MAX_ENV_NAME, name);
    const char *refusal = hc_env_refusal(name, false);
    if (refusal)
        return hc_json_fail(f->json, var, true, err, "env: %s must not be set: %s", name, refusal);
    if (!cJSON_IsString(var))
        return hc_json_fail(f->json, var, false, err, "env.%s: expected a string, got %s", name,
                            hc_json_kind(var));
    if (strlen(var->valuestring) > HC_MAX_ENV_VALUE)
        return hc_json_fail(f->json, var, false, err, "env.%s: longer than %d bytes", name, HC_MAX_ENV_VALUE);
    if (strcmp(name, "MPLCONFIGDIR") == 0 && !is_writable_place(var->valuestring))
        return hc_json_fail(f->json, var, false, err, "env.%s: expected a directory below /output or /tmp",
                            name);
    return 0;
}

static int set_env(struct file *f, const cJSON *node, struct hc_error *err)
{
    struct hc_policy *p = f->policy;
    if (!cJSON_IsObject(node))
        return wrong_type(f, node, "an object of strings", err);
    if (!p->env && !(p->env = cJSON_CreateObject()))
        return hc_fail(err, ENOMEM, "env");
    const cJSON *var;
    cJSON_ArrayForEach(var, node)
    {
        if (check_env(f, var, err) < 0)
            return -1;
        cJSON_DeleteItemFromObjectCaseSensitive(p->env, var->string); /* a parent may have set it */
        if (cJSON_GetArraySize(p->env) >= HC_MAX_ENV)
            return hc_json_fail(f->json, var, true, err, "env: more than %d variables", HC_MAX_ENV);
        if (!cJSON_AddStringToObject(p->env, var->string, var->valuestring))
            return hc_fail(err, ENOMEM, "env");
    }
    return 0;
}

static int set_tools(struct file *f, const cJSON *node, struct hc_error *err)
{
    return hc_tools_read(&f->policy->tools, f->json, node, true, err);
}

static int set_option(struct file *f, const char *section, const cJSON *node, const char *const *known,
                      struct hc_error *err)
{
    char path[160];
    (void)snprintf(path, sizeof path, "%s%s%s", section, *section ? "." : "", node->string);
    const struct hc_option *opt = hc_option_by_path(path);
    if (!opt || (!*section && strchr(path, '.')))
        return unknown_member(f, node, section, known, err);
    return hc_option_set_json(f->policy, opt, f->json, node, err);
}

static bool is_maxima(const cJSON *section, const cJSON *node)
{
    return strcmp(section->string, "limits") == 0 && strcmp(node->string, "max") == 0;
}

static int set_section(struct file *f, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(f, node, "an object", err);
    const cJSON *member;
    cJSON_ArrayForEach(member, node)
    {
        int rc = is_maxima(node, member) ? hc_maxima_read(&f->policy->max, "limits.max", f->json, member, err)
                                         : set_option(f, node->string, member, NULL, err);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* Members of a policy that are not single values; the single values are rows of hc_options. */
static const struct {
    const char *name;                                                    /* name of the member */
    int (*set)(struct file *f, const cJSON *node, struct hc_error *err); /* reads it into f->policy */
} members[] = {
    {"name", set_name},      {"description", set_description}, {"extends", set_extends}, {"env", set_env},
    {"limits", set_section}, {"output", set_section},          {"tools", set_tools},
};
static const char *const member_names[] = {"name",   "description", "extends", "env",
                                           "limits", "output",      "tools"};

static int set_member(struct file *f, const cJSON *node, struct hc_error *err)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].name, node->string) == 0)
            return members[i].set(f, node, err);
    if (hc_rules_is_section(node->string))
        return hc_rules_set(&f->policy->rules, f->json, node, err);
    const char *known[COUNT(member_names) + MAX_SECTIONS + 1] = {NULL};
    size_t count = 0;
    for (; count < COUNT(member_names); count++)
        known[count] = member_names[count];
    for (size_t i = 0; i < MAX_SECTIONS && hc_rules_section(i); i++)
        known[count++] = hc_rules_section(i);
    return set_option(f, "", node, known, err);
}

static int apply_file(struct file *f, struct hc_error *err)
{
    const cJSON *node;
    f->policy->name[0] = '\0'; /* a policy does not inherit its parent's name and description */
    free(f->policy->description);
    f->policy->description = NULL;
    cJSON_ArrayForEach(node, f->json->root)
    {
        if (set_member(f, node, err) < 0)
            return -1;
    }
    return 0;
}

struct loader {
    struct hc_policy *policy; /* receives what the files say; borrowed */
    hc_policy_reader *read;   /* the caller's function that finds and reads a file */
    void *ctx;                /* argument of `read`; borrowed */
    /* names from the requested policy to the one that is being read; borrowed */
    const char *files[MAX_CHAIN];
    int depth; /* number of `files` */
};

static int load(struct loader *l, const char *name, struct hc_error *err);

static int load_parent(struct loader *l, const struct hc_json *json, struct hc_error *err)
{
    const cJSON *extends = cJSON_GetObjectItemCaseSensitive(json->root, "extends");
    if (!extends)
        return 0;
    struct file f = {.policy = l->policy, .json = json};
    if (set_extends(&f, extends, err) < 0)
        return -1;
    if (l->depth == MAX_CHAIN)
        return hc_json_fail(json, extends, false, err, "extends: a chain of more than %d policies",
                            MAX_CHAIN);
    if (load(l, extends->valuestring, err) == 0)
        return 0;
    const struct hc_error why = *err;
    (void)hc_json_fail(json, extends, false, err, "extends '%s': %s", extends->valuestring, why.text);
    err->sys = why.sys;
    return -1;
}

static int load_text(struct loader *l, const char *file, const struct hc_buf *text, struct hc_error *err)
{
    for (int i = 0; i < l->depth; i++)
        if (strcmp(l->files[i], file) == 0)
            return hc_fail_as(err, HC_EXIT_CONFIG, 0, "%s: extends itself", file);
    l->files[l->depth++] = file;
    struct hc_json json;
    if (hc_json_parse(&json, file, text->data, text->len, err) < 0)
        return -1;
    struct file f = {.policy = l->policy, .json = &json};
    int rc;
    if (!cJSON_IsObject(json.root))
        rc =
            hc_json_fail(&json, json.root, false, err, "expected an object, got %s", hc_json_kind(json.root));
    else
        rc = load_parent(l, &json, err) < 0 ? -1 : apply_file(&f, err);
    hc_json_finish(&json);
    l->depth--;
    return rc;
}

static int load(struct loader *l, const char *name, struct hc_error *err)
{
    hc_autobuf text = {0};
    char *file = NULL;
    const char *from = l->depth ? l->files[l->depth - 1] : NULL;
    int rc = l->read(l->ctx, name, from, &text, &file, err);
    if (rc == 0)
        rc = load_text(l, file ? file : name, &text, err);
    free(file);
    return rc;
}

/* A policy without the member "name" gets the name of its file. */
static void name_after_file(struct hc_policy *p, const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    size_t len = strlen(base);
    if (len > 5 && strcmp(base + len - 5, ".json") == 0)
        len -= 5;
    (void)snprintf(p->name, sizeof p->name, "%.*s", (int)(len < sizeof p->name ? len : sizeof p->name - 1),
                   base);
    if (!hc_is_id(p->name, sizeof p->name - 1))
        (void)snprintf(p->name, sizeof p->name, "unnamed");
}

/* A command is a process beside the interpreter's. */
static int check_commands(const struct hc_policy *p, const char *name, struct hc_error *err)
{
    const cJSON *list = hc_rules_get(p->rules, "commands", "allow");
    if (!list || !list->child || p->processes == HC_PROCESSES_FORK)
        return 0;
    return hc_fail_as(
        err, HC_EXIT_CONFIG, 0,
        "policy '%s': commands.allow needs \"processes\": \"fork\": a command is a process of its own", name);
}

int hc_policy_load(struct hc_policy *p, const char *name, hc_policy_reader *read, void *ctx,
                   struct hc_error *err)
{
    struct loader l = {.policy = p, .read = read, .ctx = ctx};
    hc_policy_init(p);
    if (load(&l, name, err) < 0 || check_commands(p, name, err) < 0 || hc_maxima_check(p, name, err) < 0) {
        hc_policy_finish(p);
        return hc_exit_as(err, HC_EXIT_CONFIG);
    }
    if (!*p->name)
        name_after_file(p, name);
    return 0;
}

static bool put_option(cJSON *root, const struct hc_policy *p, const struct hc_option *opt)
{
    cJSON *object = root;
    const char *dot = strchr(opt->path, '.'), *name = opt->path;
    if (dot) {
        char section[32];
        (void)snprintf(section, sizeof section, "%.*s", (int)(dot - opt->path), opt->path);
        name = dot + 1;
        object = cJSON_GetObjectItemCaseSensitive(root, section);
        if (!object)
            object = cJSON_AddObjectToObject(root, section);
    }
    cJSON *value = object ? hc_option_to_json(p, opt) : NULL;
    if (value && cJSON_AddItemToObject(object, name, value))
        return true;
    cJSON_Delete(value);
    return false;
}

static bool put_maxima(cJSON *root, const struct hc_policy *p)
{
    cJSON *max = hc_maxima_to_json(&p->max), *limits = cJSON_GetObjectItemCaseSensitive(root, "limits");
    if (max && !max->child) {
        cJSON_Delete(max);
        return true;
    }
    if (max && cJSON_AddItemToObject(limits, "max", max))
        return true;
    cJSON_Delete(max);
    return false;
}

static bool put_copy(cJSON *root, const char *name, const cJSON *object)
{
    if (!object || !object->child)
        return true;
    cJSON *copy = cJSON_Duplicate(object, true);
    if (copy && cJSON_AddItemToObject(root, name, copy))
        return true;
    cJSON_Delete(copy);
    return false;
}

static bool allows_layer(const struct hc_policy *p, const char *name, size_t len)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, hc_rules_get(p->rules, "layers", "allow"))
    {
        const char *allowed = item->valuestring;
        if (strcmp(allowed, "*") == 0 || (strlen(allowed) == len && strncmp(allowed, name, len) == 0))
            return true;
    }
    return false;
}

int hc_policy_check_layers(const struct hc_policy *p, struct hc_error *err)
{
    static const char sign[] = {HC_LAYER_SIGN, '\0'};
    size_t len;
    for (const char *name = hc_policy_layers(p); *name; name += len) {
        name++;
        len = strcspn(name, sign);
        if (!allows_layer(p, name, len))
            return hc_fail_as(err, HC_EXIT_CONFIG, 0,
                              "policy '%s' does not give programs the layer '%.*s': a policy that does has "
                              "\"layers\": {\"allow\": [\"%.*s\"]}",
                              p->name, (int)len, name, (int)len, name);
    }
    return 0;
}

/* Adds the rules in the order of hc_rules, whatever their order in the file: equal policies have equal
 * hashes. */
static bool put_rules(cJSON *root, const struct hc_policy *p)
{
    for (size_t i = 0; i < hc_rules_count; i++) {
        const struct hc_rule *r = &hc_rules[i];
        const cJSON *value = hc_rules_get(p->rules, r->section, r->key);
        cJSON *section = cJSON_GetObjectItemCaseSensitive(root, r->section);
        if (value && !section)
            section = cJSON_AddObjectToObject(root, r->section);
        cJSON *copy = value && section ? cJSON_Duplicate(value, true) : NULL;
        if (!value || (copy && cJSON_AddItemToObject(section, r->key, copy)))
            continue;
        cJSON_Delete(copy);
        return false;
    }
    return true;
}

static bool put_tools(cJSON *root, const struct hc_policy *p)
{
    cJSON *tools = p->tools.count ? hc_tools_to_json(&p->tools) : NULL;
    if (!p->tools.count || (tools && cJSON_AddItemToObject(root, "tools", tools)))
        return true;
    cJSON_Delete(tools);
    return false;
}

cJSON *hc_policy_to_json(const struct hc_policy *p)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = root && (!*p->name || cJSON_AddStringToObject(root, "name", p->name));
    for (size_t i = 0; ok && i < hc_options_count; i++)
        ok = put_option(root, p, &hc_options[i]);
    if (ok && put_maxima(root, p) && put_copy(root, "env", p->env) && put_rules(root, p) &&
        put_tools(root, p))
        return root;
    cJSON_Delete(root);
    return NULL;
}

char *hc_policy_text(const struct hc_policy *p)
{
    cJSON *json = hc_policy_to_json(p);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

int hc_policy_hash(const struct hc_policy *p, char out[HC_SHA256_HEX], struct hc_error *err)
{
    char *text = hc_policy_text(p);
    if (!text)
        return hc_fail(err, ENOMEM, "describe the policy");
    hc_sha256_hex(text, strlen(text), out);
    cJSON_free(text);
    return 0;
}

int hc_policy_note_base(struct hc_policy *p, struct hc_error *err)
{
    hc_maxima_init(&p->max);
    return *p->base_sha256 ? 0 : hc_policy_hash(p, p->base_sha256, err);
}
