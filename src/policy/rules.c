#include "policy/rules.h"

#include "json/names.h"
#include "policy/syscalls.h"

#include <errno.h>
#include <string.h>

#define MAX_TEXT  4096  /* most bytes of a HC_RULE_TEXT, and of an item of a list */
#define MAX_CODE  65536 /* most bytes of a HC_RULE_CODE */
#define MAX_ITEMS 1024  /* most items of one list */

static const char *const kinds[] = {
    [HC_RULE_BOOL] = "true or false",
    [HC_RULE_COUNT] = "a whole number",
    [HC_RULE_TEXT] = "a string",
    [HC_RULE_CODE] = "a string",
    [HC_RULE_CHOICE] = "a string",
    [HC_RULE_FILE] = "a file name",
    [HC_RULE_FOLDER] = "the name of a directory",
    [HC_RULE_NAMES] = "a list of strings",
    [HC_RULE_PLACES] = "a list of directories",
    [HC_RULE_HOST_DIRS] = "a list of absolute paths",
    [HC_RULE_PROGRAMS] = "a list of programs",
    [HC_RULE_MAP] = "an object of strings",
    [HC_RULE_ALLOWED_CALLS] = "a list of strings",
    [HC_RULE_DENIED_CALLS] = "a list of strings",
    [HC_RULE_ROWS] = "a list of objects",
};

bool hc_rules_is_section(const char *name)
{
    for (size_t i = 0; i < hc_rules_count; i++)
        if (strcmp(hc_rules[i].section, name) == 0)
            return true;
    return false;
}

const char *hc_rules_section(size_t index)
{
    for (size_t i = 0; i < hc_rules_count; i++)
        if ((i == 0 || strcmp(hc_rules[i].section, hc_rules[i - 1].section) != 0) && index-- == 0)
            return hc_rules[i].section;
    return NULL;
}

static bool is_list(enum hc_rule_kind kind)
{
    return kind == HC_RULE_NAMES || kind == HC_RULE_PLACES || kind == HC_RULE_HOST_DIRS ||
           kind == HC_RULE_PROGRAMS || kind == HC_RULE_ROWS || kind == HC_RULE_ALLOWED_CALLS ||
           kind == HC_RULE_DENIED_CALLS;
}

/* The row of a key; a '+' at the key's end sets `*adds`, and only keys of lists may have one. */
static const struct hc_rule *find_rule(const char *section, const char *key, bool *adds)
{
    size_t len = strlen(key);
    *adds = len && key[len - 1] == '+';
    for (size_t i = 0; i < hc_rules_count; i++) {
        const struct hc_rule *r = &hc_rules[i];
        if (strcmp(r->section, section) != 0 || strlen(r->key) != len - *adds ||
            strncmp(r->key, key, len - *adds) != 0)
            continue;
        return *adds && !is_list(r->kind) ? NULL : r;
    }
    return NULL;
}

static int unknown_key(const struct hc_json *j, const cJSON *node, const char *section, struct hc_error *err)
{
    const char *known[64];
    size_t count = 0;
    for (size_t i = 0; i < hc_rules_count && count + 1 < sizeof known / sizeof *known; i++)
        if (strcmp(hc_rules[i].section, section) == 0)
            known[count++] = hc_rules[i].key;
    known[count] = NULL;
    char hint[160];
    hc_nearest(node->string, known, hint, sizeof hint);
    return hc_json_fail(j, node, true, err, "unknown member '%.64s' in %s%s", node->string, section, hint);
}

/* The place of a value in a policy file, and its name for messages. */
struct place {
    const struct hc_json *json; /* the policy file's document; borrowed */
    const char *section, *key;  /* borrowed from `json` */
};

static int wrong_type(const struct place *at, const cJSON *node, const char *expected, struct hc_error *err)
{
    return hc_json_fail(at->json, node, false, err, "%s.%s: expected %s, got %s", at->section, at->key,
                        expected, hc_json_kind(node));
}

static int check_text(const struct place *at, const cJSON *node, size_t max, struct hc_error *err)
{
    if (!cJSON_IsString(node))
        return wrong_type(at, node, "a string", err);
    if (strlen(node->valuestring) > max)
        return hc_json_fail(at->json, node, false, err, "%s.%s: longer than %zu bytes", at->section, at->key,
                            max);
    return 0;
}

static int check_choice(const struct place *at, const cJSON *node, const char *const *choices,
                        struct hc_error *err)
{
    char list[160] = "";
    size_t used = 0;
    if (!cJSON_IsString(node))
        return wrong_type(at, node, "a string", err);
    for (size_t i = 0; choices[i]; i++) {
        if (strcmp(choices[i], node->valuestring) == 0)
            return 0;
        const char *joint = i == 0 ? "" : choices[i + 1] ? ", " : " or ";
        int n = snprintf(list + used, sizeof list - used, "%s%s", joint, choices[i]);
        used += n > 0 && (size_t)n < sizeof list - used ? (size_t)n : 0;
    }
    return hc_json_fail(at->json, node, false, err, "%s.%s: expected %s, got '%.60s'", at->section, at->key,
                        list, node->valuestring);
}

static int check_list_size(const struct place *at, const cJSON *node, const char *expected,
                           struct hc_error *err)
{
    if (!cJSON_IsArray(node))
        return wrong_type(at, node, expected, err);
    if (cJSON_GetArraySize(node) > MAX_ITEMS)
        return hc_json_fail(at->json, node, false, err, "%s.%s: more than %d", at->section, at->key,
                            MAX_ITEMS);
    return 0;
}

/* A file name for the program. The guard recognises the program's own frames by it, so it must differ from
 * the names of other frames. */
static int check_file(const struct place *at, const cJSON *node, struct hc_error *err)
{
    static const char *const taken[] = {"/", "<frozen", "<hotcell>"};
    if (!cJSON_IsString(node))
        return wrong_type(at, node, kinds[HC_RULE_FILE], err);
    const char *name = node->valuestring;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strncmp(name, taken[i], strlen(taken[i])) == 0)
            return hc_json_fail(at->json, node, false, err, "%s.%s: must not begin with '%s'", at->section,
                                at->key, taken[i]);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return hc_json_fail(at->json, node, false, err, "%s.%s: control characters", at->section,
                                at->key);
    return *name && strlen(name) <= 255
               ? 0
               : hc_json_fail(at->json, node, false, err, "%s.%s: expected 1 to 255 bytes", at->section,
                              at->key);
}

static int check_folder(const struct place *at, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsString(node))
        return wrong_type(at, node, kinds[HC_RULE_FOLDER], err);
    return hc_is_id(node->valuestring, 64)
               ? 0
               : hc_json_fail(at->json, node, false, err,
                              "%s.%s: expected letters, digits, '.', '_' or '-', not beginning with '.'",
                              at->section, at->key);
}

static int check_names(const struct place *at, const cJSON *node, const char *const *choices,
                       struct hc_error *err)
{
    if (check_list_size(at, node, kinds[HC_RULE_NAMES], err) < 0)
        return -1;
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        if (check_text(at, item, MAX_TEXT, err) < 0 || (choices && check_choice(at, item, choices, err) < 0))
            return -1;
        if (!*item->valuestring)
            return hc_json_fail(at->json, item, false, err, "%s.%s: expected a name, got an empty string",
                                at->section, at->key);
    }
    return 0;
}

static int check_calls(const struct place *at, const cJSON *node, bool allowed, struct hc_error *err)
{
    if (check_names(at, node, NULL, err) < 0)
        return -1;
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        char why[512];
        const char *name = item->valuestring;
        if (!(allowed ? hc_syscalls_may_allow : hc_syscalls_may_deny)(name, why, sizeof why))
            return hc_json_fail(at->json, item, false, err, "%s.%s: %s", at->section, at->key, why);
    }
    return 0;
}

/* Whether a real path could be written so: neither "." nor ".." in it, no empty name and no slash at the end.
 */
static bool is_plain_path(const char *path)
{
    for (const char *at = path; *at == '/' && path[1];) {
        size_t len = strcspn(++at, "/");
        if (!len || (len == 1 && *at == '.') || (len == 2 && strncmp(at, "..", 2) == 0))
            return false;
        at += len;
    }
    return true;
}

/* A relative path would mean nothing: programs change their directory. `of_host`: neither would "~" and ".",
 * as a policy is the same for all who use it. */
static int check_places(const struct place *at, const cJSON *node, bool of_host, struct hc_error *err)
{
    if (check_names(at, node, NULL, err) < 0)
        return -1;
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        const char *path = item->valuestring;
        if (of_host && *path != '/')
            return hc_json_fail(at->json, item, false, err, "%s.%s: expected an absolute path, got '%.80s'",
                                at->section, at->key, path);
        if (of_host && !is_plain_path(path))
            return hc_json_fail(
                at->json, item, false, err,
                "%s.%s: expected a path without '.', '..', '//' and '/' at its end, got '%.80s'", at->section,
                at->key, path);
        if (*path != '/' && *path != '~' && strcmp(path, ".") != 0)
            return hc_json_fail(at->json, item, false, err,
                                "%s.%s: expected an absolute path, one from \"~\", or \".\", got '%.80s'",
                                at->section, at->key, path);
    }
    return 0;
}

/* A program is a name below /usr/bin, or a path below /usr, the only place of a tree that has programs. */
static int check_programs(const struct place *at, const cJSON *node, struct hc_error *err)
{
    if (check_names(at, node, NULL, err) < 0)
        return -1;
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        const char *name = item->valuestring;
        bool path =
            strncmp(name, "/usr/", strlen("/usr/")) == 0 && !strstr(name, "/../") && name[strlen("/usr/")];
        if (!path && strchr(name, '/'))
            return hc_json_fail(at->json, item, false, err,
                                "%s.%s: expected \"*\", a name, or a path below /usr, got '%.80s'",
                                at->section, at->key, name);
        size_t len = strlen(name);
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            (len > 3 && strcmp(name + len - 3, "/..") == 0))
            return hc_json_fail(at->json, item, false, err, "%s.%s: expected a program, got '%.80s'",
                                at->section, at->key, name);
    }
    return 0;
}

/* May `name` stand on the left of an assignment in Python? */
static bool is_python_name(const char *name)
{
    return hc_is_word(name) && (*name == '_' || hc_is_identifier(name));
}

static int check_map(const struct place *at, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong_type(at, node, kinds[HC_RULE_MAP], err);
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        if (!is_python_name(item->string))
            return hc_json_fail(at->json, item, true, err, "%s.%s: expected a Python name, got '%.80s'",
                                at->section, at->key, item->string);
        if (check_text(at, item, MAX_TEXT, err) < 0)
            return -1;
    }
    return 0;
}

static int check_field(const struct place *at, const struct hc_rule_field *f, const cJSON *node,
                       struct hc_error *err)
{
    struct place field = {.json = at->json, .section = at->key, .key = f->name};
    switch (f->kind) {
    case HC_RULE_BOOL:
        return cJSON_IsBool(node) ? 0 : wrong_type(&field, node, kinds[f->kind], err);
    case HC_RULE_CHOICE:
        return check_choice(&field, node, f->choices, err);
    case HC_RULE_NAMES:
        return check_names(&field, node, f->choices, err);
    case HC_RULE_CODE:
        return check_text(&field, node, MAX_CODE, err);
    default:
        return check_text(&field, node, MAX_TEXT, err);
    }
}

static int check_row(const struct place *at, const struct hc_rule_field *fields, const cJSON *row,
                     struct hc_error *err)
{
    if (!cJSON_IsObject(row))
        return wrong_type(at, row, "an object", err);
    const cJSON *member;
    cJSON_ArrayForEach(member, row)
    {
        const struct hc_rule_field *f = fields;
        while (f->name && strcmp(f->name, member->string) != 0)
            f++;
        if (!f->name)
            return hc_json_fail(at->json, member, true, err, "unknown member '%.64s' in %s.%s",
                                member->string, at->section, at->key);
        if (check_field(at, f, member, err) < 0)
            return -1;
    }
    for (const struct hc_rule_field *f = fields; f->name; f++)
        if (f->required && !cJSON_GetObjectItemCaseSensitive(row, f->name))
            return hc_json_fail(at->json, row, false, err, "%s.%s: expected a member '%s'", at->section,
                                at->key, f->name);
    return 0;
}

static int check_rows(const struct place *at, const struct hc_rule_field *fields, const cJSON *node,
                      struct hc_error *err)
{
    if (check_list_size(at, node, kinds[HC_RULE_ROWS], err) < 0)
        return -1;
    const cJSON *row;
    cJSON_ArrayForEach(row, node)
    {
        if (check_row(at, fields, row, err) < 0)
            return -1;
    }
    return 0;
}

static int check_count(const struct place *at, const struct hc_rule *r, const cJSON *node,
                       struct hc_error *err)
{
    if (!cJSON_IsNumber(node))
        return wrong_type(at, node, kinds[HC_RULE_COUNT], err);
    double n = node->valuedouble;
    if (!(n >= 0 && n <= (double)r->max))
        return hc_json_fail(at->json, node, false, err, "%s.%s: expected 0 to %lld, got %.15g", at->section,
                            at->key, (long long)r->max, n);
    if (n != (double)(int64_t)n)
        return hc_json_fail(at->json, node, false, err, "%s.%s: expected a whole number, got %.15g",
                            at->section, at->key, n);
    return 0;
}

static int check_value(const struct place *at, const struct hc_rule *r, const cJSON *node,
                       struct hc_error *err)
{
    switch (r->kind) {
    case HC_RULE_BOOL:
        return cJSON_IsBool(node) ? 0 : wrong_type(at, node, kinds[r->kind], err);
    case HC_RULE_COUNT:
        return check_count(at, r, node, err);
    case HC_RULE_TEXT:
        return check_text(at, node, MAX_TEXT, err);
    case HC_RULE_CODE:
        return check_text(at, node, MAX_CODE, err);
    case HC_RULE_CHOICE:
        return check_choice(at, node, r->choices, err);
    case HC_RULE_PLACES:
    case HC_RULE_HOST_DIRS:
        return check_places(at, node, r->kind == HC_RULE_HOST_DIRS, err);
    case HC_RULE_NAMES:
        return check_names(at, node, r->choices, err);
    case HC_RULE_PROGRAMS:
        return check_programs(at, node, err);
    case HC_RULE_ALLOWED_CALLS:
    case HC_RULE_DENIED_CALLS:
        return check_calls(at, node, r->kind == HC_RULE_ALLOWED_CALLS, err);
    case HC_RULE_FILE:
        return check_file(at, node, err);
    case HC_RULE_FOLDER:
        return check_folder(at, node, err);
    case HC_RULE_MAP:
        return check_map(at, node, err);
    case HC_RULE_ROWS:
        return check_rows(at, r->fields, node, err);
    }
    return 0;
}

/* The new value of a key, owned by the caller: a copy of `node`, which replaces the inherited value; or the
 * inherited list or map with the items of `node` added. NULL: out of memory. */
static cJSON *merge_value(const struct hc_rule *r, bool adds, const cJSON *inherited, const cJSON *node)
{
    bool keeps_old = inherited && (adds || r->kind == HC_RULE_MAP);
    if (!keeps_old)
        return cJSON_Duplicate(node, true);
    cJSON *all = cJSON_Duplicate(inherited, true);
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        cJSON *copy = cJSON_Duplicate(item, true);
        if (r->kind == HC_RULE_MAP)
            cJSON_DeleteItemFromObjectCaseSensitive(all, item->string);
        bool put = copy && (r->kind == HC_RULE_MAP ? cJSON_AddItemToObject(all, item->string, copy)
                                                   : cJSON_AddItemToArray(all, copy));
        if (put)
            continue;
        cJSON_Delete(copy);
        cJSON_Delete(all);
        return NULL;
    }
    return all;
}

static int set_key(cJSON *to, const struct hc_json *j, const char *section, const cJSON *node,
                   struct hc_error *err)
{
    bool adds;
    const struct hc_rule *r = find_rule(section, node->string, &adds);
    if (!r)
        return unknown_key(j, node, section, err);
    if (cJSON_IsNull(node) && !adds) {
        cJSON_DeleteItemFromObjectCaseSensitive(to, r->key);
        return 0;
    }
    struct place at = {.json = j, .section = section, .key = r->key};
    if (check_value(&at, r, node, err) < 0)
        return -1;
    cJSON *value = merge_value(r, adds, cJSON_GetObjectItemCaseSensitive(to, r->key), node);
    cJSON_DeleteItemFromObjectCaseSensitive(to, r->key);
    if (value && cJSON_AddItemToObject(to, r->key, value))
        return 0;
    cJSON_Delete(value);
    return hc_fail(err, ENOMEM, "%s", section);
}

/* Refuses a ladder without rows, be it one that adds none to nothing. */
static int check_ladder(const cJSON *to, const struct hc_json *j, const cJSON *section, struct hc_error *err)
{
    const cJSON *ladder = cJSON_GetObjectItemCaseSensitive(to, "ladder");
    if (!cJSON_IsArray(ladder) || ladder->child)
        return 0;
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(section, "ladder");
    return hc_json_fail(j, node ? node : section, false, err,
                        "warm.ladder: expected at least one row, or null for no ladder");
}

/* A ladder stands for warm.imports, warm.code and warm.sample: a policy that sets one of the two kinds does
 * not inherit the other. */
static int settle_ladder(cJSON *to, const struct hc_json *j, const cJSON *section, struct hc_error *err)
{
    static const char *const single[] = {"imports", "imports+", "code", "sample"};
    const bool ladder = cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(section, "ladder"));
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(section, single[i]);
        if (ladder && other)
            return hc_json_fail(j, other, true, err,
                                "warm.%s: not beside warm.ladder, whose rows have their own", single[i]);
        if (ladder)
            cJSON_DeleteItemFromObjectCaseSensitive(to, single[i]);
        if (other)
            cJSON_DeleteItemFromObjectCaseSensitive(to, "ladder");
    }
    return 0;
}

int hc_rules_set(cJSON **rules, const struct hc_json *j, const cJSON *section, struct hc_error *err)
{
    if (!cJSON_IsObject(section))
        return hc_json_fail(j, section, false, err, "%s: expected an object, got %s", section->string,
                            hc_json_kind(section));
    if (!*rules && !(*rules = cJSON_CreateObject()))
        return hc_fail(err, ENOMEM, "%s", section->string);
    cJSON *to = cJSON_GetObjectItemCaseSensitive(*rules, section->string);
    if (!to && !(to = cJSON_AddObjectToObject(*rules, section->string)))
        return hc_fail(err, ENOMEM, "%s", section->string);
    const cJSON *node;
    cJSON_ArrayForEach(node, section)
    {
        if (set_key(to, j, section->string, node, err) < 0)
            return hc_exit_as(err, HC_EXIT_CONFIG);
    }
    if (strcmp(section->string, "warm") == 0 &&
        (settle_ladder(to, j, section, err) < 0 || check_ladder(to, j, section, err) < 0))
        return hc_exit_as(err, HC_EXIT_CONFIG);
    return 0;
}

const cJSON *hc_rules_get(const cJSON *rules, const char *section, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(rules, section), key);
}

const char *hc_rules_text(const cJSON *rules, const char *section, const char *key, const char *otherwise)
{
    const char *text = cJSON_GetStringValue(hc_rules_get(rules, section, key));
    return text ? text : otherwise;
}

bool hc_rules_bool(const cJSON *rules, const char *section, const char *key, bool otherwise)
{
    const cJSON *node = hc_rules_get(rules, section, key);
    return cJSON_IsBool(node) ? cJSON_IsTrue(node) : otherwise;
}

int64_t hc_rules_count_of(const cJSON *rules, const char *section, const char *key, int64_t otherwise)
{
    const cJSON *node = hc_rules_get(rules, section, key);
    return cJSON_IsNumber(node) ? (int64_t)node->valuedouble : otherwise;
}

/* Copies what the launcher has added to the rules: it is no rule, but the guard's hints are about it. */
static bool copy_read_only(cJSON *out, const cJSON *rules)
{
    const cJSON *added = hc_rules_get(rules, "files", "read_only");
    cJSON *files = cJSON_GetObjectItemCaseSensitive(out, "files");
    return !added || !files || cJSON_AddItemToObject(files, "read_only", cJSON_Duplicate(added, true));
}

cJSON *hc_rules_for_shim(const cJSON *rules, bool guard)
{
    cJSON *out = cJSON_CreateObject();
    for (size_t i = 0; out && i < hc_rules_count; i++) {
        const struct hc_rule *r = &hc_rules[i];
        const cJSON *value = hc_rules_get(rules, r->section, r->key);
        bool launchers = strcmp(r->section, "redact") == 0 || strcmp(r->section, "syscalls") == 0 ||
                         strcmp(r->section, "dirs") == 0 || strcmp(r->section, "layers") == 0;
        if (!value || (r->guard && !guard) || launchers)
            continue;
        cJSON *section = cJSON_GetObjectItemCaseSensitive(out, r->section);
        if (!section)
            section = cJSON_AddObjectToObject(out, r->section);
        cJSON *copy = section ? cJSON_Duplicate(value, true) : NULL;
        if (copy && cJSON_AddItemToObject(section, r->key, copy))
            continue;
        cJSON_Delete(copy);
        cJSON_Delete(out);
        return NULL;
    }
    if (out && !copy_read_only(out, rules)) {
        cJSON_Delete(out);
        return NULL;
    }
    return out;
}

const char *hc_rule_kind_name(enum hc_rule_kind kind)
{
    return kinds[kind];
}
