#include "shim/guard/rules.h"

#include "json/names.h"

#include <stdlib.h>
#include <string.h>

struct hc_guard_rules hc_guard;

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool hc_names_has(const struct hc_names *set, const char *name)
{
    return set->count && bsearch(&name, set->items, set->count, sizeof *set->items, compare);
}

bool hc_names_has_module(const struct hc_names *set, const char *dotted)
{
    char name[256];
    size_t len = strlen(dotted);
    if (len >= sizeof name)
        return false;
    memcpy(name, dotted, len + 1);
    for (char *dot = name; dot; (dot = strrchr(name, '.')) ? *dot = '\0' : 0)
        if (hc_names_has(set, name))
            return true;
    return false;
}

bool hc_names_has_suffix(const struct hc_names *set, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < set->count; i++) {
        size_t end = strlen(set->items[i]);
        if (end <= len && strcmp(name + len - end, set->items[i]) == 0)
            return true;
    }
    return false;
}

bool hc_names_has_match(const struct hc_names *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        size_t len = strlen(set->items[i]);
        bool open_ended = len && set->items[i][len - 1] == '*';
        if (open_ended ? strncmp(name, set->items[i], len - 1) == 0 : strcmp(name, set->items[i]) == 0)
            return true;
    }
    return false;
}

/* The sets of names in a policy, and the members that they fill. */
static const struct {
    const char *section, *key;
    struct hc_names *to;
} sets[] = {
    {"imports", "allow", &hc_guard.imports.allow},
    {"imports", "deny", &hc_guard.imports.deny},
    {"imports", "with_network", &hc_guard.imports.with_network},
    {"imports", "with_processes", &hc_guard.imports.with_processes},
    {"calls", "deny", &hc_guard.calls.deny},
    {"names", "deny", &hc_guard.names.deny},
    {"builtins", "allow", &hc_guard.builtins.allow},
    {"builtins", "deny", &hc_guard.builtins.deny},
    {"builtins", "refuse", &hc_guard.builtins.refuse},
    {"attributes", "deny", &hc_guard.attributes.deny},
    {"attributes", "allow", &hc_guard.attributes.allow},
    {"attributes", "suffixes", &hc_guard.attributes.suffixes},
    {"code", "ban", &hc_guard.code.ban},
    {"code", "warn", &hc_guard.code.warn},
    {"code", "write_types", &hc_guard.code.write_types},
    {"files", "read", &hc_guard.files.read},
    {"files", "write", &hc_guard.files.write},
    {"files", "library", &hc_guard.files.library},
    {"files", "risky", &hc_guard.files.risky},
    {"files", "read_only", &hc_guard.files.read_only},
    {"audit", "allow", &hc_guard.audit.allow},
    {"audit", "deny", &hc_guard.audit.deny},
    {"audit", "env", &hc_guard.audit.env},
    {"audit", "natives", &hc_guard.audit.natives},
    {"modules", "scrub", &hc_guard.modules.scrub},
};

/* The texts in a policy, the members that they fill, and their defaults. */
static const struct {
    const char *section, *key;
    const char **to;
    const char *otherwise;
} texts[] = {
    {"imports", "message", &hc_guard.imports.message, "Import not allowed: {name}"},
    {"imports", "deny_message", &hc_guard.imports.deny_message, NULL},
    {"imports", "loaded_message", &hc_guard.imports.loaded_message, "{name} not preloaded"},
    {"calls", "message", &hc_guard.calls.message, "Call of '{name}' is not allowed by this policy"},
    {"names", "message", &hc_guard.names.message, "Use of '{name}' is not allowed by this policy"},
    {"builtins", "message", &hc_guard.builtins.message, "'{name}' is not allowed by this policy"},
    {"builtins", "hide_prefix", &hc_guard.builtins.hide_prefix, NULL},
    {"attributes", "message", &hc_guard.attributes.message,
     "Access to '{name}' is not allowed by this policy"},
    {"code", "max_chars_message", &hc_guard.code.max_chars_message, "The program is too long"},
    {"files", "read_message", &hc_guard.files.read_message, "Reading {path} is not allowed by this policy"},
    {"files", "write_message", &hc_guard.files.write_message, "Writing {path} is not allowed by this policy"},
    {"files", "risky_message", &hc_guard.files.risky_message, NULL},
};

static int read_set(const cJSON *list, struct hc_names *out)
{
    *out = (struct hc_names){.given = cJSON_IsArray(list)};
    int count = cJSON_GetArraySize(list);
    if (count == 0)
        return 0;
    out->items = calloc((size_t)count, sizeof *out->items);
    if (!out->items)
        return -1;
    const cJSON *item;
    cJSON_ArrayForEach(item, list) if (cJSON_IsString(item)) out->items[out->count++] = item->valuestring;
    qsort(out->items, out->count, sizeof *out->items, compare);
    return 0;
}

/* Reads the names of the variables that may be frames. */
static int read_frames(const struct hc_handover_job *job, struct hc_names *out)
{
    const cJSON *aliases = hc_rules_get(job->rules, "prelude", "aliases");
    const cJSON *others = hc_rules_get(job->rules, "code", "columns_of"), *item;
    int most = cJSON_GetArraySize(aliases) + cJSON_GetArraySize(others);
    *out = (struct hc_names){.items = calloc(job->input_count + (size_t)most + 1, sizeof *out->items)};
    if (!out->items)
        return -1;
    for (size_t i = 0; i < job->input_count; i++)
        out->items[out->count++] = job->inputs[i].name;
    cJSON_ArrayForEach(item, aliases) out->items[out->count++] = item->string;
    cJSON_ArrayForEach(item, others) if (cJSON_IsString(item)) out->items[out->count++] = item->valuestring;
    qsort(out->items, out->count, sizeof *out->items, compare);
    return 0;
}

int hc_guard_rules_read(const struct hc_handover_job *job)
{
    const cJSON *rules = job->rules;
    struct hc_guard_rules *g = &hc_guard;
    *g = (struct hc_guard_rules){0};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (read_set(hc_rules_get(rules, sets[i].section, sets[i].key), sets[i].to) < 0)
            return -1;
    if (read_frames(job, &g->code.frames) < 0)
        return -1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i].to = hc_rules_text(rules, texts[i].section, texts[i].key, texts[i].otherwise);
    const char *when = hc_rules_text(rules, "imports", "when", "both");
    g->on = job->guard;
    g->learn = job->learn;
    g->network = job->network;
    g->processes = job->processes;
    g->links = job->links;
    g->filename = job->filename;
    g->imports.exact = hc_rules_bool(rules, "imports", "exact", false);
    g->imports.from_top_level = hc_rules_bool(rules, "imports", "from_top_level", false);
    g->imports.loaded_only = hc_rules_bool(rules, "imports", "loaded_only", false);
    g->imports.at_check = strcmp(when, "run") != 0;
    g->imports.at_run = strcmp(when, "check") != 0;
    g->imports.warn_unused = g->imports.at_check && g->imports.at_run && !g->learn &&
                             !g->imports.allow.given &&
                             strcmp(hc_rules_text(rules, "imports", "unused", "refuse"), "warn") == 0;
    g->imports.permission_error =
        strcmp(hc_rules_text(rules, "imports", "exception", "ImportError"), "PermissionError") == 0;
    g->builtins.own_namespace = hc_rules_bool(rules, "builtins", "own_namespace", false);
    g->attributes.private_ones = hc_rules_bool(rules, "attributes", "private", false);
    g->code.max_chars = hc_rules_count_of(rules, "code", "max_chars", 0);
    g->code.tidy = hc_rules_bool(rules, "code", "tidy", true);
    g->code.guarded_writes = strcmp(hc_rules_text(rules, "code", "writes", "free"), "guarded") == 0;
    g->audit.chdir = hc_rules_bool(rules, "audit", "chdir", true);
    g->audit.threads = hc_rules_bool(rules, "audit", "threads", true);
    g->audit.chain = hc_rules_bool(rules, "audit", "chain", false);
    g->modules.replace = hc_rules_get(rules, "modules", "replace");
    return 0;
}

void hc_guard_message(char *out, size_t size, const char *template, const char *name)
{
    size_t used = 0;
    while (*template && used + 1 < size) {
        size_t hole = strncmp(template, "{name}", 6) == 0 || strncmp(template, "{path}", 6) == 0 ? 6 : 0;
        if (!hole) {
            out[used++] = *template ++;
            continue;
        }
        int n = snprintf(out + used, size - used, "%.200s", name);
        used += n < 0 ? 0 : (size_t)n < size - used ? (size_t)n : size - used - 1;
        template += hole;
    }
    out[used] = '\0';
}

static bool import_allowed(const char *dotted, bool from)
{
    const struct hc_names *allow = &hc_guard.imports.allow;
    if (!allow->given || hc_names_has(allow, dotted))
        return true;
    if (!hc_guard.imports.exact)
        return hc_names_has_module(allow, dotted);
    char top[256];
    (void)snprintf(top, sizeof top, "%.*s", (int)strcspn(dotted, "."), dotted);
    return from && hc_guard.imports.from_top_level && hc_names_has(allow, top);
}

bool hc_guard_import_denied(const char *dotted)
{
    if (!hc_names_has_module(&hc_guard.imports.deny, dotted))
        return false;
    return !(hc_guard.network && hc_names_has_module(&hc_guard.imports.with_network, dotted)) &&
           !(hc_guard.processes && hc_names_has_module(&hc_guard.imports.with_processes, dotted));
}

const char *hc_guard_import_refusal(const char *dotted, bool from)
{
    if (hc_guard_import_denied(dotted))
        return hc_guard.imports.deny_message ? hc_guard.imports.deny_message : hc_guard.imports.message;
    return import_allowed(dotted, from) ? NULL : hc_guard.imports.message;
}

bool hc_guard_given_denied(const char *name)
{
    if (strcmp(name, "__array_interface__") != 0 && strcmp(name, "__array_struct__") != 0)
        return false;
    return !hc_names_has(&hc_guard.attributes.allow, name);
}

static _Thread_local enum hc_spared spared_private; /* hc_guard_spare */
static _Thread_local const char *const *spared_names;

void hc_guard_spare(enum hc_spared private_ones, const char *const *names)
{
    spared_private = private_ones;
    spared_names = names;
}

static bool is_spared(const char *name)
{
    for (const char *const *one = spared_names; one && *one; one++)
        if (strcmp(*one, name) == 0)
            return true;
    return false;
}

static bool is_private(const char *name)
{
    return name[0] == '_' &&
           (spared_private == HC_SPARE_NONE || (spared_private == HC_SPARE_SINGLE && name[1] == '_'));
}

bool hc_guard_attribute_denied(const char *name)
{
    if (hc_names_has(&hc_guard.attributes.allow, name) || is_spared(name))
        return false;
    return hc_names_has(&hc_guard.attributes.deny, name) ||
           (hc_guard.attributes.private_ones && is_private(name)) ||
           hc_names_has_suffix(&hc_guard.attributes.suffixes, name);
}
