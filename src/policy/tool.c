#include "policy/tool.h"

#include "json/names.h"
#include "policy/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS   64          /* most words of a command */
#define MAX_DEFAULT (64 << 10)  /* most bytes of an argument's default, as JSON */
#define MAX_SCHEMA  (256 << 10) /* most bytes of a tool's parameters, as JSON */

/* The numbers of a tool. Each is read as an option of a policy is, into a policy that is thrown away, so that
 * tools and policies write sizes, durations and numbers in the same way. */
static const struct row {
    struct hc_option as; /* how the number is read and printed, as an option */
    size_t at;           /* offsetof in struct hc_tool; the member is an int64_t */
} rows[] = {
    {{.path = "calls",
      .kind = HC_OPT_COUNT,
      .at = offsetof(struct hc_policy, limits.pids),
      .min = 0,
      .max = 10000,
      .def = 100},
     offsetof(struct hc_tool, calls)},
    {{.path = "rate",
      .kind = HC_OPT_MILLI,
      .at = offsetof(struct hc_policy, limits.cpus_milli),
      .min = 0,
      .max = 1000000,
      .def = 0},
     offsetof(struct hc_tool, rate_milli)},
    {{.path = "timeout",
      .kind = HC_OPT_DURATION,
      .at = offsetof(struct hc_policy, limits.timeout_ms),
      .min = 10,
      .max = 3600000,
      .def = 10000},
     offsetof(struct hc_tool, timeout_ms)},
    {{.path = "argument_size",
      .kind = HC_OPT_SIZE,
      .at = offsetof(struct hc_policy, limits.value_bytes),
      .min = 2,
      .max = 1 << 20,
      .def = 64 << 10},
     offsetof(struct hc_tool, argument_bytes)},
    {{.path = "result_size",
      .kind = HC_OPT_SIZE,
      .at = offsetof(struct hc_policy, limits.figure_bytes),
      .min = 2,
      .max = 16 << 20,
      .def = 1 << 20},
     offsetof(struct hc_tool, result_bytes)},
};

#define ROWS (sizeof rows / sizeof *rows)

static int64_t *number_field(const struct hc_tool *t, size_t at)
{
    return (int64_t *)(void *)((char *)(uintptr_t)t + at);
}

/* ---- one tool ---- */

static void free_words(char **words)
{
    for (char **w = words; w && *w; w++)
        free(*w);
    free(words);
}

static void finish_tool(struct hc_tool *t)
{
    free(t->description);
    hc_schema_free(t->parameters);
    free_words(t->command);
    for (size_t i = 0; i < t->path_count; i++) {
        free(t->paths[i].argument);
        free(t->paths[i].mode);
        free_words(t->paths[i].below);
    }
    *t = (struct hc_tool){0};
}

void hc_tools_finish(struct hc_tools *tools)
{
    for (size_t i = 0; i < tools->count; i++)
        finish_tool(&tools->items[i]);
    free(tools->items);
    *tools = (struct hc_tools){0};
}

struct hc_tool *hc_tools_find(const struct hc_tools *tools, const char *name)
{
    for (size_t i = 0; i < tools->count; i++)
        if (strcmp(tools->items[i].name, name) == 0)
            return &tools->items[i];
    return NULL;
}

/* Adds a tool with the defaults of `rows`. The caller has checked that there are fewer than HC_MAX_TOOLS.
 * NULL: out of memory. */
static struct hc_tool *add_tool(struct hc_tools *tools, const char *name)
{
    struct hc_tool *items = reallocarray(tools->items, tools->count + 1, sizeof *items);
    if (!items)
        return NULL;
    tools->items = items;
    struct hc_tool *t = &items[tools->count++];
    *t = (struct hc_tool){0};
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    for (size_t i = 0; i < ROWS; i++)
        *number_field(t, rows[i].at) = rows[i].as.def;
    return t;
}

static const char *bad_name(const char *name)
{
    bool good = hc_is_identifier(name) && strlen(name) <= HC_TOOL_NAME;
    return good ? NULL
                : "expected a Python identifier of at most 64 ASCII letters, digits and '_', no keyword, "
                  "not beginning with '_'";
}

/* ---- reading ---- */

/* One tool that is being read. */
struct reading {
    struct hc_tool *tool;       /* receives the members; borrowed */
    const struct hc_json *json; /* the policy's or the spec's document; borrowed */
    bool commands;              /* the tool may name its command */
};

static int wrong_type(const struct reading *r, const cJSON *node, const char *what, struct hc_error *err)
{
    return hc_json_fail(r->json, node, false, err, "tools.%s.%s: expected %s, got %s", r->tool->name,
                        node->string, what, hc_json_kind(node));
}

static int no_memory(const struct reading *r, struct hc_error *err)
{
    return hc_fail(err, ENOMEM, "tools.%s", r->tool->name);
}

static int read_description(struct reading *r, const cJSON *node, struct hc_error *err)
{
    if (!cJSON_IsString(node))
        return wrong_type(r, node, "a string", err);
    r->tool->description = strdup(node->valuestring);
    return r->tool->description ? 0 : no_memory(r, err);
}

/* Is `node`, printed as JSON, longer than `most` bytes? hc_json_source would search the document from its
 * start for each of many nodes. */
static bool is_longer(const cJSON *node, size_t most)
{
    char *text = cJSON_PrintUnformatted(node);
    bool longer = !text || strlen(text) > most;
    cJSON_free(text);
    return longer;
}

static bool takes_object(const cJSON *schema)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(schema, "type");
    return !type || (cJSON_IsString(type) && strcmp(type->valuestring, "object") == 0);
}

/* Checks that every parameter can be an argument in Python: a call may name it. */
static int check_parameters(const struct reading *r, const cJSON *node, struct hc_error *err)
{
    const cJSON *one;
    if (!takes_object(node))
        return hc_json_fail(r->json, node, false, err,
                            "tools.%s.parameters: expected the schema of an object", r->tool->name);
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(node, "properties"))
    {
        const cJSON *by_default = cJSON_GetObjectItemCaseSensitive(one, "default");
        if (!hc_is_identifier(one->string) || strlen(one->string) > HC_TOOL_NAME)
            return hc_json_fail(r->json, one, true, err,
                                "tools.%s.parameters: '%.64s' cannot be the name of an argument",
                                r->tool->name, one->string);
        if (by_default && is_longer(by_default, MAX_DEFAULT))
            return hc_json_fail(r->json, by_default, false, err,
                                "tools.%s.parameters: a default of more than %d "
                                "bytes",
                                r->tool->name, MAX_DEFAULT);
    }
    return 0;
}

static int read_parameters(struct reading *r, const cJSON *node, struct hc_error *err)
{
    char label[HC_TOOL_NAME + 24];
    (void)snprintf(label, sizeof label, "tools.%s.parameters", r->tool->name);
    /* Each call is checked against the schema by a process that has other work, too: a check must not
     * take long. */
    if (is_longer(node, MAX_SCHEMA))
        return hc_json_fail(r->json, node, false, err, "%s: more than %d bytes", label, MAX_SCHEMA);
    if (hc_schema_new(&r->tool->parameters, r->json, node, label, err) < 0)
        return -1;
    r->tool->schema = hc_schema_json(r->tool->parameters);
    return check_parameters(r, node, err);
}

/* Reads a list of strings into *out, which the caller owns. */
static int read_words(struct reading *r, const cJSON *node, int max, char ***out, struct hc_error *err)
{
    const cJSON *one;
    int count = cJSON_GetArraySize(node), n = 0;
    if (!cJSON_IsArray(node) || count == 0 || count > max)
        return hc_json_fail(r->json, node, false, err, "tools.%s: %s: expected a list of 1 to %d strings",
                            r->tool->name, node->string, max);
    *out = calloc((size_t)count + 1, sizeof **out);
    if (!*out)
        return no_memory(r, err);
    cJSON_ArrayForEach(one, node)
    {
        if (!cJSON_IsString(one) || (n == 0 && !*one->valuestring))
            return hc_json_fail(r->json, one, false, err, "tools.%s: %s: expected a string, got %s",
                                r->tool->name, node->string,
                                cJSON_IsString(one) ? "an empty one" : hc_json_kind(one));
        if (!((*out)[n++] = strdup(one->valuestring)))
            return no_memory(r, err);
    }
    return 0;
}

static int read_command(struct reading *r, const cJSON *node, struct hc_error *err)
{
    if (!r->commands)
        return hc_json_fail(r->json, node, true, err,
                            "tools.%s: a spec cannot name a command; a policy or --tool can", r->tool->name);
    return read_words(r, node, MAX_WORDS, &r->tool->command, err);
}

static int read_argument_name(struct reading *r, const cJSON *node, char **out, struct hc_error *err)
{
    if (!cJSON_IsString(node) || !hc_is_identifier(node->valuestring))
        return wrong_type(r, node, "the name of an argument", err);
    *out = strdup(node->valuestring);
    return *out ? 0 : no_memory(r, err);
}

static int read_path(struct reading *r, const cJSON *node, struct hc_error *err)
{
    const cJSON *one;
    if (r->tool->path_count == HC_MAX_TOOL_PATHS)
        return hc_json_fail(r->json, node, true, err, "tools.%s.paths: more than %d", r->tool->name,
                            HC_MAX_TOOL_PATHS);
    struct hc_tool_path *path = &r->tool->paths[r->tool->path_count++];
    if (!cJSON_IsObject(node))
        return wrong_type(r, node, "an object", err);
    if (!hc_is_identifier(node->string))
        return hc_json_fail(r->json, node, true, err,
                            "tools.%s.paths: '%.64s' cannot be the name of an argument", r->tool->name,
                            node->string);
    if (!(path->argument = strdup(node->string)))
        return no_memory(r, err);
    cJSON_ArrayForEach(one, node)
    {
        int rc = strcmp(one->string, "below") == 0 ? read_words(r, one, HC_MAX_TOOL_PLACES, &path->below, err)
                 : strcmp(one->string, "mode") == 0 ? read_argument_name(r, one, &path->mode, err)
                                                    : hc_json_fail(r->json, one, true, err,
                                                                   "tools.%s.paths: unknown member '%.64s'; "
                                                                   "expected 'below' or 'mode'",
                                                                   r->tool->name, one->string);
        if (rc < 0)
            return -1;
    }
    return path->below
               ? 0
               : hc_json_fail(r->json, node, false, err, "tools.%s.paths.%s: expected a member 'below'",
                              r->tool->name, node->string);
}

static int read_paths(struct reading *r, const cJSON *node, struct hc_error *err)
{
    const cJSON *one;
    if (!cJSON_IsObject(node))
        return wrong_type(r, node, "an object of arguments", err);
    cJSON_ArrayForEach(one, node)
    {
        if (read_path(r, one, err) < 0)
            return -1;
    }
    return 0;
}

static int read_value(struct reading *r, const struct row *row, const cJSON *node, struct hc_error *err)
{
    struct hc_policy scratch = {0};
    struct hc_option as = row->as;
    char label[HC_TOOL_NAME + 32];
    (void)snprintf(label, sizeof label, "tools.%s.%s", r->tool->name, row->as.path);
    as.path = label;
    if (hc_option_set_json(&scratch, &as, r->json, node, err) < 0)
        return -1;
    memcpy(number_field(r->tool, row->at), (const char *)&scratch + as.at, sizeof(int64_t));
    return 0;
}

static const struct {
    const char *name;
    int (*read)(struct reading *r, const cJSON *node, struct hc_error *err);
} members[] = {
    {"description", read_description},
    {"parameters", read_parameters},
    {"command", read_command},
    {"paths", read_paths},
};

#define MEMBERS (sizeof members / sizeof *members)

static int read_member(struct reading *r, const cJSON *node, struct hc_error *err)
{
    const char *known[MEMBERS + ROWS + 1] = {NULL};
    char hint[160];
    for (size_t i = 0; i < MEMBERS; i++) {
        if (strcmp(members[i].name, node->string) == 0)
            return members[i].read(r, node, err);
        known[i] = members[i].name;
    }
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].as.path, node->string) == 0)
            return read_value(r, &rows[i], node, err);
        known[MEMBERS + i] = rows[i].as.path;
    }
    hc_nearest(node->string, known, hint, sizeof hint);
    return hc_json_fail(r->json, node, true, err, "unknown member '%.64s' in tools.%s%s", node->string,
                        r->tool->name, hint);
}

/* Refuses a path rule for an argument that no call can have, as the rule would protect nothing. */
static int check_paths(const struct reading *r, const cJSON *node, struct hc_error *err)
{
    const struct hc_tool *t = r->tool;
    const cJSON *paths = cJSON_GetObjectItemCaseSensitive(node, "paths"), *one;
    cJSON_ArrayForEach(one, paths)
    {
        if (t->parameters && !hc_schema_property(t->parameters, one->string))
            return hc_json_fail(r->json, one, true, err, "tools.%s.paths: '%.64s' is none of its parameters",
                                t->name, one->string);
    }
    return 0;
}

/* Removes an inherited tool, so that its replacement takes over nothing from it. */
static void drop_tool(struct hc_tools *tools, struct hc_tool *t)
{
    finish_tool(t);
    tools->count--;
    memmove(t, t + 1, (size_t)(tools->items + tools->count - t) * sizeof *t);
}

/* Adds the tool that `node` describes, with its name and the defaults only. NULL: the tool was refused (err).
 */
static struct hc_tool *make_tool(struct hc_tools *tools, const struct hc_json *j, const cJSON *node,
                                 bool commands, struct hc_error *err)
{
    const char *name = node->string, *bad = bad_name(name);
    struct hc_tool *old = hc_tools_find(tools, name), *made = NULL;
    if (bad)
        (void)hc_json_fail(j, node, true, err, "tools: '%.64s': %s", name, bad);
    else if (!cJSON_IsObject(node))
        (void)hc_json_fail(j, node, false, err, "tools.%s: expected an object, got %s", name,
                           hc_json_kind(node));
    else if (old && !commands)
        (void)hc_json_fail(j, node, true, err, "tools: '%s' is there already", name);
    else if (!old && tools->count == HC_MAX_TOOLS)
        (void)hc_json_fail(j, node, true, err, "tools: more than %d", HC_MAX_TOOLS);
    else {
        if (old)
            drop_tool(tools, old);
        made = add_tool(tools, name);
        if (!made)
            (void)hc_fail(err, ENOMEM, "tools");
    }
    return made;
}

int hc_tools_read(struct hc_tools *tools, const struct hc_json *j, const cJSON *node, bool commands,
                  struct hc_error *err)
{
    const cJSON *one, *part;
    if (!cJSON_IsObject(node))
        return hc_json_fail(j, node, false, err, "tools: expected an object of tools, got %s",
                            hc_json_kind(node));
    cJSON_ArrayForEach(one, node)
    {
        struct reading r = {make_tool(tools, j, one, commands, err), j, commands};
        if (!r.tool)
            return -1;
        cJSON_ArrayForEach(part, one)
        {
            if (read_member(&r, part, err) < 0)
                return -1;
        }
        if (check_paths(&r, one, err) < 0)
            return -1;
    }
    return 0;
}

int hc_tools_move(struct hc_tools *to, struct hc_tools *from, struct hc_error *err)
{
    for (size_t i = 0; i < from->count; i++) {
        if (hc_tools_find(to, from->items[i].name))
            return hc_fail_as(err, HC_EXIT_DATA, 0, "tools: '%s' is the policy's already",
                              from->items[i].name);
        if (to->count + from->count > HC_MAX_TOOLS)
            return hc_fail_as(err, HC_EXIT_DATA, 0, "tools: more than %d with the policy's", HC_MAX_TOOLS);
    }
    if (from->count == 0)
        return 0;
    struct hc_tool *items = reallocarray(to->items, to->count + from->count, sizeof *items);
    if (!items)
        return hc_fail(err, ENOMEM, "tools");
    memcpy(items + to->count, from->items, from->count * sizeof *items);
    to->items = items;
    to->count += from->count;
    free(from->items);
    *from = (struct hc_tools){0};
    return 0;
}

/* ---- a command line ---- */

/* A command line that is being split into words. */
struct splitter {
    const char *at;     /* the next character of the command line */
    struct hc_buf word; /* the word so far; owned */
    bool open;          /* a word has begun; it may be empty ('') */
};

/* Adds to the word one character, or the quoted text that begins here. Returns NULL, or what is wrong.
 */
static const char *take_character(struct splitter *s)
{
    char c = *s->at++;
    s->open = true;
    if (c == '\\') {
        if (!*s->at)
            return "nothing behind the last '\\'";
        (void)hc_buf_add(&s->word, s->at++, 1);
    } else if (c == '\'' || c == '"') {
        for (; *s->at && *s->at != c; s->at++) {
            if (c == '"' && *s->at == '\\' && s->at[1] && strchr("\"\\$`", s->at[1]))
                s->at++;
            (void)hc_buf_add(&s->word, s->at, 1);
        }
        if (!*s->at)
            return "a quotation mark that is not closed";
        s->at++;
    } else {
        (void)hc_buf_add(&s->word, &c, 1);
    }
    return NULL;
}

static const char *end_word(struct splitter *s, char **words, size_t *count)
{
    if (!s->open)
        return NULL;
    if (*count == MAX_WORDS)
        return "more than 64 words";
    words[*count] = s->word.data ? hc_buf_take(&s->word) : strdup("");
    s->open = false;
    s->word = (struct hc_buf){0};
    return words[(*count)++] ? NULL : "out of memory";
}

/* Splits a command line into words, which the caller owns. Returns NULL, or what is wrong with the text.
 */
static const char *split_command(const char *text, char **words)
{
    struct splitter s = {.at = text};
    const char *bad = NULL;
    size_t count = 0;
    while (!bad && *s.at) {
        if (!strchr(" \t\n", *s.at)) {
            bad = take_character(&s);
            continue;
        }
        s.at++;
        bad = end_word(&s, words, &count);
    }
    if (!bad)
        bad = end_word(&s, words, &count);
    hc_buf_finish(&s.word);
    return bad ? bad : count && *words[0] ? NULL : "expected a command";
}

int hc_tools_add_command(struct hc_tools *tools, const char *assignment, struct hc_error *err)
{
    char name[HC_TOOL_NAME + 1];
    size_t len = strcspn(assignment, "=");
    if (!assignment[len] || len > HC_TOOL_NAME)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected NAME=COMMAND, got '%.80s'", assignment);
    (void)snprintf(name, sizeof name, "%.*s", (int)len, assignment);
    const char *bad = bad_name(name);
    if (bad)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "'%s': %s", name, bad);
    struct hc_tool *t = hc_tools_find(tools, name);
    if (!t && tools->count == HC_MAX_TOOLS)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "more than %d tools", HC_MAX_TOOLS);
    char **words = calloc(MAX_WORDS + 1, sizeof *words);
    if (!words || (!t && !(t = add_tool(tools, name)))) {
        free(words);
        return hc_fail(err, ENOMEM, "'%s'", name);
    }
    free_words(t->command);
    t->command = words;
    bad = split_command(assignment + len + 1, words);
    return bad ? hc_fail_as(err, HC_EXIT_USAGE, 0, "'%s': %s", name, bad) : 0;
}

/* ---- writing ---- */

static bool put_item(cJSON *to, const char *name, cJSON *item)
{
    if (to && item && cJSON_AddItemToObject(to, name, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool put_words(cJSON *to, const char *name, char *const *words)
{
    cJSON *list = words ? cJSON_AddArrayToObject(to, name) : NULL;
    for (; words && *words; words++) {
        cJSON *one = cJSON_CreateString(*words);
        if (!list || !one || !cJSON_AddItemToArray(list, one)) {
            cJSON_Delete(one);
            return false;
        }
    }
    return true;
}

static bool put_paths(cJSON *to, const struct hc_tool *t)
{
    cJSON *paths = t->path_count ? cJSON_AddObjectToObject(to, "paths") : NULL;
    for (size_t i = 0; i < t->path_count; i++) {
        const struct hc_tool_path *path = &t->paths[i];
        cJSON *one = paths ? cJSON_AddObjectToObject(paths, path->argument) : NULL;
        if (!one || (path->mode && !cJSON_AddStringToObject(one, "mode", path->mode)) ||
            !put_words(one, "below", path->below))
            return false;
    }
    return true;
}

static bool put_values(cJSON *to, const struct hc_tool *t)
{
    struct hc_policy scratch = {0};
    for (size_t i = 0; i < ROWS; i++) {
        memcpy((char *)&scratch + rows[i].as.at, number_field(t, rows[i].at), sizeof(int64_t));
        if (!put_item(to, rows[i].as.path, hc_option_to_json(&scratch, &rows[i].as)))
            return false;
    }
    return true;
}

static bool put_meaning(cJSON *to, const struct hc_tool *t)
{
    return (!t->description || cJSON_AddStringToObject(to, "description", t->description)) &&
           (!t->parameters || put_item(to, "parameters", cJSON_Duplicate(t->schema, true)));
}

cJSON *hc_tools_to_json(const struct hc_tools *tools)
{
    cJSON *root = cJSON_CreateObject();
    for (size_t i = 0; root && i < tools->count; i++) {
        const struct hc_tool *t = &tools->items[i];
        cJSON *one = cJSON_AddObjectToObject(root, t->name);
        if (one && put_meaning(one, t) && put_words(one, "command", t->command) && put_paths(one, t) &&
            put_values(one, t))
            continue;
        cJSON_Delete(root);
        root = NULL;
    }
    return root;
}
