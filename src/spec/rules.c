#include "spec/rules.h"

#include "spec/names.h"
#include "spec/syscalls.h"

#include <errno.h>
#include <string.h>

#define MAX_TEXT  4096
#define MAX_CODE  65536
#define MAX_ITEMS 1024 /* of one list */

static const char *const whens[] = {"both", "check", "run", NULL};
static const char *const exceptions[] = {"ImportError", "PermissionError", NULL};
static const char *const ways[] = {"none", "refuse", "ignore", "choose", NULL};
static const char *const all_or_first[] = {"all", "first", NULL};
static const char *const shows[] = {"keep", "save", "ignore", NULL};
static const char *const formats[] = {"png", "svg", "pdf", NULL};
static const char *const plotly_formats[] = {"json", "html", NULL};
static const char *const keeps[] = {"head", "ends", NULL};
static const char *const statements[] = {"def", "class", "lambda", "global", "nonlocal", "async", NULL};
static const char *const warnings[] = {"file_calls", "infinite_loop", NULL};
static const char *const writes[] = {"free", "guarded", NULL};
static const char *const executables[] = {"any", "files", NULL};

static const struct hc_rule_field replace_fields[] = {
    {"module", HC_RULE_TEXT, true, NULL},   {"name", HC_RULE_TEXT, true, NULL},
    {"with", HC_RULE_CHOICE, true, ways},   {"message", HC_RULE_TEXT, false, NULL},
    {"values", HC_RULE_NAMES, false, NULL}, {"argument", HC_RULE_TEXT, false, NULL},
    {"instead", HC_RULE_TEXT, false, NULL}, {NULL, HC_RULE_TEXT, false, NULL},
};
static const struct hc_rule_field redact_fields[] = {
    {"name", HC_RULE_TEXT, true, NULL},    {"pattern", HC_RULE_TEXT, true, NULL},
    {"replace", HC_RULE_TEXT, true, NULL}, {"ignore_case", HC_RULE_BOOL, false, NULL},
    {NULL, HC_RULE_TEXT, false, NULL},
};

/* clang-format off */
const struct hc_rule hc_rules[] = {
    {"imports", "allow", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Modules that the program may import; without this list, all that are not denied."},
    {"imports", "deny", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Modules that the program may not import, their submodules included."},
    {"imports", "with_network", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Modules that are not denied where the policy's network is \"loopback\"."},
    {"imports", "with_processes", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Modules that are not denied where the policy's processes are \"fork\"."},
    {"imports", "exact", HC_RULE_BOOL, true, 0, NULL, NULL,
     "Whether an allowed name means that module alone instead of its submodules too."},
    {"imports", "from_top_level", HC_RULE_BOOL, true, 0, NULL, NULL,
     "Whether \"from X.Y import\", and imports at run time, are also allowed if X is, with \"exact\"."},
    {"imports", "when", HC_RULE_CHOICE, true, 0, whens, NULL,
     "Whether imports are looked at before the program runs, while it runs, or both."},
    {"imports", "loaded_only", HC_RULE_BOOL, true, 0, NULL, NULL,
     "Whether only modules may be imported that the policy itself has loaded."},
    {"imports", "exception", HC_RULE_CHOICE, true, 0, exceptions, NULL,
     "The exception that a refused import raises at run time."},
    {"imports", "message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What is said of a module that is not allowed; {name} stands for it."},
    {"imports", "deny_message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What is said of a module that is denied, if something else."},
    {"imports", "loaded_message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What is said of a module that is not loaded, with \"loaded_only\"."},
    {"calls", "deny", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Names that the program may not call."},
    {"calls", "message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What is said of such a call; {name} stands for the name."},
    {"builtins", "allow", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Built-in names that the program has; without this list, all. What class statements and imports need is always there."},
    {"builtins", "deny", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Built-in names that the program does not have."},
    {"builtins", "refuse", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Built-in functions that raise PermissionError when called."},
    {"builtins", "message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What these say; {name} stands for the function."},
    {"builtins", "own_namespace", HC_RULE_BOOL, true, 0, NULL, NULL,
     "Whether globals(), locals(), dir() and vars() only ever show the program's own names."},
    {"builtins", "hide_prefix", HC_RULE_TEXT, true, 0, NULL, NULL,
     "Names that begin so are left out of dir() and vars()."},
    {"attributes", "deny", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Attributes that the program may not use."},
    {"attributes", "private", HC_RULE_BOOL, true, 0, NULL, NULL,
     "Whether attributes that begin with an underscore are denied too."},
    {"attributes", "allow", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Attributes that are allowed all the same."},
    {"attributes", "suffixes", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Attributes and names that end so are denied."},
    {"attributes", "message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What is said of such an attribute; {name} stands for it."},
    {"names", "deny", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Names that the program may not use at all."},
    {"names", "message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What is said of such a name; {name} stands for it."},
    {"code", "max_chars", HC_RULE_COUNT, true, 16 << 20, NULL, NULL,
     "Characters that the program may have; 0 for no limit beside limits.code."},
    {"code", "max_chars_message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What is said of a longer one."},
    {"code", "ban", HC_RULE_NAMES, true, 0, statements, NULL,
     "Statements that the program may not have."},
    {"code", "warn", HC_RULE_NAMES, true, 0, warnings, NULL,
     "What the program is warned of: calls of open, file, read and write, unless it saves figures; loops without a condition."},
    {"code", "columns_of", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Frames of which the columns that the program uses are looked for, beside its inputs."},
    {"code", "writes", HC_RULE_CHOICE, true, 0, writes, NULL,
     "Whether setting attributes and items goes through a guard."},
    {"code", "write_types", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Types whose objects may be changed in place, with guarded writes; without this list, all."},
    {"code", "filename", HC_RULE_FILE, false, 0, NULL, NULL,
     "The file name that tracebacks show for the program; \"<cell>\" if nothing else is said."},
    {"code", "finish_tasks", HC_RULE_BOOL, false, 0, NULL, NULL,
     "Whether tasks that a program with a top-level await leaves running are awaited, instead of cancelled."},
    {"files", "read", HC_RULE_PLACES, true, 0, NULL, NULL,
     "Directories below which the program may read files; without this list, all that the cell has."},
    {"files", "write", HC_RULE_PLACES, true, 0, NULL, NULL,
     "Directories below which the program, and the libraries that it calls, may write files."},
    {"files", "library", HC_RULE_PLACES, true, 0, NULL, NULL,
     "Directories below which libraries may read files for the program, beside those of \"read\"; without this list, all."},
    {"files", "read_message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What is said of reading elsewhere; {path} stands for the file."},
    {"files", "write_message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "What is said of writing elsewhere."},
    {"files", "risky", HC_RULE_PLACES, true, 0, NULL, NULL,
     "Directories outside the zones of which something else is said."},
    {"files", "risky_message", HC_RULE_TEXT, true, 0, NULL, NULL,
     "That."},
    {"modules", "scrub", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Modules that sys.modules does not show."},
    {"modules", "replace", HC_RULE_ROWS, true, 0, NULL, replace_fields,
     "Functions of modules that the program finds changed."},
    {"audit", "allow", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Audit events that are let through although they have an effect; a trailing * stands for any rest."},
    {"audit", "deny", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Audit events that are refused beside those that always are."},
    {"audit", "threads", HC_RULE_BOOL, true, 0, NULL, NULL,
     "Whether the program may start threads; those of asyncio's executor always may."},
    {"audit", "env", HC_RULE_NAMES, true, 0, NULL, NULL,
     "Environment variables that may not be changed; a trailing * stands for any rest."},
    {"audit", "chain", HC_RULE_BOOL, true, 0, NULL, NULL,
     "Whether a refusal's message names the event, its arguments and the calls that led to it."},
    {"prelude", "names", HC_RULE_MAP, false, 0, NULL, NULL,
     "Names that are there already, and the modules (or \"module:attribute\") that they stand for."},
    {"prelude", "load", HC_RULE_NAMES, false, 0, NULL, NULL,
     "Modules that are loaded before the program is, if it names them."},
    {"prelude", "code", HC_RULE_CODE, false, 0, NULL, NULL,
     "Trusted code that runs in the program's namespace before it."},
    {"prelude", "aliases", HC_RULE_MAP, false, 0, NULL, NULL,
     "Further names of inputs and variables."},
    {"prelude", "results", HC_RULE_BOOL, false, 0, NULL, NULL,
     "Whether there is a dict \"results\" for the program to fill."},
    {"figures", "formats", HC_RULE_NAMES, false, 0, formats, NULL,
     "How matplotlib's figures are saved, in as many ways as there are names; \"png\" if nothing else is said."},
    {"figures", "plotly", HC_RULE_NAMES, false, 0, plotly_formats, NULL,
     "How plotly's figures are saved; \"json\" if nothing else is said. The HTML needs no network."},
    {"figures", "which", HC_RULE_CHOICE, false, 0, all_or_first, NULL,
     "Whether all of matplotlib's figures are saved at the end or the first alone."},
    {"figures", "show", HC_RULE_CHOICE, false, 0, shows, NULL,
     "What plt.show() does: keep the figure for the end, save and close it, or nothing."},
    {"figures", "directory", HC_RULE_FOLDER, false, 0, NULL, NULL,
     "Directory below /output that figures go into; \"figures\" if nothing else is said."},
    {"figures", "fonts", HC_RULE_NAMES, false, 0, NULL, NULL,
     "Font families for matplotlib, in order of preference; those that the tree lacks are passed over."},
    {"figures", "fallback", HC_RULE_NAMES, false, 0, NULL, NULL,
     "Font families for Chinese, Japanese and Korean letters that the font of a text lacks."},
    {"figures", "unicode_minus", HC_RULE_BOOL, false, 0, NULL, NULL,
     "Whether numbers on axes have a minus sign instead of a hyphen, which more fonts have."},
    {"syscalls", "allow", HC_RULE_ALLOWED_CALLS, false, 0, NULL, NULL,
     "System calls that the program has beside those that every program has: names of optional sets, or of calls of them."},
    {"syscalls", "deny", HC_RULE_DENIED_CALLS, false, 0, NULL, NULL,
     "System calls that the program does not have: names of sets, or of calls. They fail as if the kernel had none of them."},
    {"syscalls", "executable_memory", HC_RULE_CHOICE, false, 0, executables, NULL,
     "Whether the program may make code at run time; \"any\" if nothing else is said."},
    {"redact", "rules", HC_RULE_ROWS, false, 0, NULL, redact_fields,
     "What is replaced in output: Perl-compatible patterns, and texts in which \\1 stands for the first group."},
    {"redact", "env_lines", HC_RULE_COUNT, false, 1000000, NULL, NULL,
     "Lines like KEY=value lose their value; after so many in a row they are dropped. 0 for neither."},
    {"redact", "max_chars", HC_RULE_COUNT, false, 1 << 30, NULL, NULL,
     "Characters of each stream that are kept after redaction; 0 for all."},
    {"redact", "max_chars_note", HC_RULE_TEXT, false, 0, NULL, NULL,
     "What stands behind text that was cut so."},
    {"truncation", "keep", HC_RULE_CHOICE, false, 0, keeps, NULL,
     "Whether output that is too long keeps its beginning, or its beginning and its end."},
    {"truncation", "note", HC_RULE_TEXT, false, 0, NULL, NULL,
     "What stands where output was cut; {limit} and {bytes} stand for the limit and what was left out."},
    {"persist", "header", HC_RULE_BOOL, false, 0, NULL, NULL,
     "Whether saved code begins with a text that says how to run it again."},
};
/* clang-format on */
const size_t hc_rules_count = sizeof hc_rules / sizeof *hc_rules;

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
    return kind == HC_RULE_NAMES || kind == HC_RULE_PLACES || kind == HC_RULE_ROWS ||
           kind == HC_RULE_ALLOWED_CALLS || kind == HC_RULE_DENIED_CALLS;
}

/* The row of a key, which may end in '+'. */
static const struct hc_rule *find(const char *section, const char *key, bool *adds)
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

/* Where in the file a value is, and what it is called in messages. */
struct place {
    const struct hc_json *json;
    const char *section, *key;
};

static int wrong(const struct place *at, const cJSON *node, const char *expected, struct hc_error *err)
{
    return hc_json_fail(at->json, node, false, err, "%s.%s: expected %s, got %s", at->section, at->key,
                        expected, hc_json_kind(node));
}

static int check_text(const struct place *at, const cJSON *node, size_t max, struct hc_error *err)
{
    if (!cJSON_IsString(node))
        return wrong(at, node, "a string", err);
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
        return wrong(at, node, "a string", err);
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
        return wrong(at, node, expected, err);
    if (cJSON_GetArraySize(node) > MAX_ITEMS)
        return hc_json_fail(at->json, node, false, err, "%s.%s: more than %d", at->section, at->key,
                            MAX_ITEMS);
    return 0;
}

/* The guard tells the program's own frames by this name. */
static int check_file(const struct place *at, const cJSON *node, struct hc_error *err)
{
    static const char *const taken[] = {"/", "<frozen", "<hotcell>"};
    if (!cJSON_IsString(node))
        return wrong(at, node, kinds[HC_RULE_FILE], err);
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
        return wrong(at, node, kinds[HC_RULE_FOLDER], err);
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

/* A relative path would mean nothing: programs change their directory. */
static int check_places(const struct place *at, const cJSON *node, struct hc_error *err)
{
    if (check_names(at, node, NULL, err) < 0)
        return -1;
    const cJSON *item;
    cJSON_ArrayForEach(item, node)
    {
        const char *path = item->valuestring;
        if (*path != '/' && *path != '~' && strcmp(path, ".") != 0)
            return hc_json_fail(at->json, item, false, err,
                                "%s.%s: expected an absolute path, one from \"~\", or \".\", got '%.80s'",
                                at->section, at->key, path);
    }
    return 0;
}

/* A word that may stand on the left of an assignment. */
static bool is_python_name(const char *name)
{
    return hc_is_word(name) && (*name == '_' || hc_is_identifier(name));
}

static int check_map(const struct place *at, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsObject(node))
        return wrong(at, node, kinds[HC_RULE_MAP], err);
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
        return cJSON_IsBool(node) ? 0 : wrong(&field, node, kinds[f->kind], err);
    case HC_RULE_CHOICE:
        return check_choice(&field, node, f->choices, err);
    case HC_RULE_NAMES:
        return check_names(&field, node, f->choices, err);
    default:
        return check_text(&field, node, MAX_TEXT, err);
    }
}

static int check_row(const struct place *at, const struct hc_rule_field *fields, const cJSON *row,
                     struct hc_error *err)
{
    if (!cJSON_IsObject(row))
        return wrong(at, row, "an object", err);
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
        return wrong(at, node, kinds[HC_RULE_COUNT], err);
    double n = node->valuedouble;
    if (!(n >= 0 && n <= (double)r->max))
        return hc_json_fail(at->json, node, false, err, "%s.%s: expected 0 to %lld, got %.15g", at->section,
                            at->key, (long long)r->max, n);
    if (n != (double)(int64_t)n)
        return hc_json_fail(at->json, node, false, err, "%s.%s: expected a whole number, got %.15g",
                            at->section, at->key, n);
    return 0;
}

static int check(const struct place *at, const struct hc_rule *r, const cJSON *node, struct hc_error *err)
{
    switch (r->kind) {
    case HC_RULE_BOOL:
        return cJSON_IsBool(node) ? 0 : wrong(at, node, kinds[r->kind], err);
    case HC_RULE_COUNT:
        return check_count(at, r, node, err);
    case HC_RULE_TEXT:
        return check_text(at, node, MAX_TEXT, err);
    case HC_RULE_CODE:
        return check_text(at, node, MAX_CODE, err);
    case HC_RULE_CHOICE:
        return check_choice(at, node, r->choices, err);
    case HC_RULE_PLACES:
        return check_places(at, node, err);
    case HC_RULE_NAMES:
        return check_names(at, node, r->choices, err);
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

/* What a key becomes: a copy of `node`, over or behind what is inherited. NULL without memory. */
static cJSON *merged(const struct hc_rule *r, bool adds, const cJSON *inherited, const cJSON *node)
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
    const struct hc_rule *r = find(section, node->string, &adds);
    if (!r)
        return unknown_key(j, node, section, err);
    if (cJSON_IsNull(node) && !adds) {
        cJSON_DeleteItemFromObjectCaseSensitive(to, r->key);
        return 0;
    }
    struct place at = {.json = j, .section = section, .key = r->key};
    if (check(&at, r, node, err) < 0)
        return -1;
    cJSON *value = merged(r, adds, cJSON_GetObjectItemCaseSensitive(to, r->key), node);
    cJSON_DeleteItemFromObjectCaseSensitive(to, r->key);
    if (value && cJSON_AddItemToObject(to, r->key, value))
        return 0;
    cJSON_Delete(value);
    return hc_fail(err, ENOMEM, "%s", section);
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

cJSON *hc_rules_for_shim(const cJSON *rules, bool guard)
{
    cJSON *out = cJSON_CreateObject();
    for (size_t i = 0; out && i < hc_rules_count; i++) {
        const struct hc_rule *r = &hc_rules[i];
        const cJSON *value = hc_rules_get(rules, r->section, r->key);
        bool launchers = strcmp(r->section, "redact") == 0 || strcmp(r->section, "syscalls") == 0;
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
    return out;
}

/* Each sentence begins a line, as mdoc(7) wants it. */
static void print_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        bool ends = text[0] == '.' && text[1] == ' ';
        (void)(ends ? fputs(".\n", out) : *text == '\\' ? fputs("\\e", out) : fputc(*text, out));
        text += ends;
    }
}

void hc_rules_print_man(FILE *out)
{
    for (size_t i = 0; i < hc_rules_count; i++) {
        const struct hc_rule *r = &hc_rules[i];
        (void)fprintf(out, ".It Cm %s . Ns Cm %s : No %s\n", r->section, r->key, kinds[r->kind]);
        print_escaped(out, r->help);
        (void)fputc('\n', out);
        for (size_t c = 0; r->choices && r->choices[c]; c++)
            (void)fprintf(out, "%s.Cm %s%s\n", c ? "" : "One of\n", r->choices[c],
                          r->choices[c + 1] ? " ," : " .");
    }
}
