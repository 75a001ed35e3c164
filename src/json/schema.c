#include "json/schema.h"

#include "base/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8 /* bits of a code unit: the texts are UTF-8 */

#include <errno.h>
#include <math.h>
#include <pcre2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATTERNS 64 /* most patterns of one schema */
#define LONGEST_NAME 64 /* most bytes that messages quote of a property's name */

struct pattern {
    const cJSON *node; /* the value of a keyword "pattern"; borrowed from hc_schema.root */
    pcre2_code *code;  /* the compiled pattern; owned */
};

struct hc_schema {
    cJSON *root;                           /* owned copy of the schema */
    struct pattern patterns[MAX_PATTERNS]; /* all patterns of the schema */
    size_t pattern_count;                  /* used entries of `patterns` */
    pcre2_match_context *limits;           /* bounds of one match's steps, depth and memory; owned */
};

static const char *const types[] = {"null", "boolean", "integer", "number", "string", "array", "object"};

#define TYPES (sizeof types / sizeof *types)

/* ---- reading a schema ---- */

struct reading {
    const struct hc_json *json; /* the document that the schema is part of; borrowed */
    const char *label;          /* the schema's name in messages */
    size_t patterns;            /* number of patterns so far */
};

static int wrong_type(const struct reading *r, const cJSON *node, const char *what, struct hc_error *err)
{
    return hc_json_fail(r->json, node, false, err, "%s: %s: expected %s, got %s", r->label, node->string,
                        what, hc_json_kind(node));
}

static int read_schema(struct reading *r, const cJSON *node, struct hc_error *err);

static bool is_type(const cJSON *node)
{
    for (size_t i = 0; i < TYPES; i++)
        if (cJSON_IsString(node) && strcmp(node->valuestring, types[i]) == 0)
            return true;
    return false;
}

static int read_type(struct reading *r, const cJSON *node, struct hc_error *err)
{
    static const char what[] = "null, boolean, integer, number, string, array, object, or a list of these";
    const cJSON *one;
    if (is_type(node))
        return 0;
    if (!cJSON_IsArray(node) || !node->child)
        return wrong_type(r, node, what, err);
    cJSON_ArrayForEach(one, node)
    {
        if (!is_type(one))
            return hc_json_fail(r->json, one, false, err, "%s: type: expected %s", r->label, what);
    }
    return 0;
}

static int read_properties(struct reading *r, const cJSON *node, struct hc_error *err)
{
    const cJSON *one;
    if (!cJSON_IsObject(node))
        return wrong_type(r, node, "an object of schemas", err);
    cJSON_ArrayForEach(one, node)
    {
        if (read_schema(r, one, err) < 0)
            return -1;
    }
    return 0;
}

static int read_required(struct reading *r, const cJSON *node, struct hc_error *err)
{
    const cJSON *one;
    if (!cJSON_IsArray(node))
        return wrong_type(r, node, "a list of names", err);
    cJSON_ArrayForEach(one, node)
    {
        if (!cJSON_IsString(one))
            return hc_json_fail(r->json, one, false, err, "%s: required: expected a name, got %s", r->label,
                                hc_json_kind(one));
    }
    return 0;
}

static int read_additional(struct reading *r, const cJSON *node, struct hc_error *err)
{
    if (cJSON_IsBool(node))
        return 0;
    return cJSON_IsObject(node) ? read_schema(r, node, err)
                                : wrong_type(r, node, "true, false or a schema", err);
}

static int read_items(struct reading *r, const cJSON *node, struct hc_error *err)
{
    return cJSON_IsObject(node) ? read_schema(r, node, err) : wrong_type(r, node, "a schema", err);
}

static int read_enum(struct reading *r, const cJSON *node, struct hc_error *err)
{
    return cJSON_IsArray(node) && node->child ? 0 : wrong_type(r, node, "a list of values", err);
}

static int read_any(struct reading *r, const cJSON *node, struct hc_error *err)
{
    (void)r;
    (void)node;
    (void)err;
    return 0;
}

static int read_number(struct reading *r, const cJSON *node, struct hc_error *err)
{
    return cJSON_IsNumber(node) ? 0 : wrong_type(r, node, "a number", err);
}

static int read_count(struct reading *r, const cJSON *node, struct hc_error *err)
{
    bool fits = cJSON_IsNumber(node) && node->valuedouble >= 0 && node->valuedouble <= 1e9 &&
                node->valuedouble == floor(node->valuedouble);
    return fits ? 0 : wrong_type(r, node, "a whole number from 0 to 1000000000", err);
}

static int read_text(struct reading *r, const cJSON *node, struct hc_error *err)
{
    return cJSON_IsString(node) ? 0 : wrong_type(r, node, "a string", err);
}

static pcre2_code *compile_pattern(const char *pattern, char *why, size_t size, size_t *at)
{
    int code;
    PCRE2_SIZE offset;
    pcre2_code *made =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY, &code, &offset, NULL);
    if (!made) {
        (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, size);
        *at = offset;
    }
    return made;
}

static int read_pattern(struct reading *r, const cJSON *node, struct hc_error *err)
{
    char why[120];
    size_t at;
    if (read_text(r, node, err) < 0)
        return -1;
    if (++r->patterns > MAX_PATTERNS)
        return hc_json_fail(r->json, node, false, err, "%s: more than %d patterns", r->label, MAX_PATTERNS);
    pcre2_code *code = compile_pattern(node->valuestring, why, sizeof why, &at);
    pcre2_code_free(code);
    return code ? 0
                : hc_json_fail(r->json, node, false, err, "%s: pattern: %s at offset %zu", r->label, why, at);
}

/* ---- checking a value ---- */

struct checking {
    const struct hc_schema *schema; /* borrowed */
    char path[200];                 /* place of the value that is being checked: "options.days[2]" */
    size_t path_len;
};

static int misfit(const struct checking *c, struct hc_error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int misfit(const struct checking *c, struct hc_error *err, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return hc_fail_as(err, HC_EXIT_DATA, 0, "%s%s%s", c->path, *c->path ? ": " : "", text);
}

static int check(struct checking *c, const cJSON *schema, const cJSON *value, struct hc_error *err);

/* Checks a value inside another, with its name or index added to the path. A path that gets too long is cut;
 * it is only for messages. */
static int check_below(struct checking *c, const cJSON *schema, const cJSON *value, size_t index,
                       struct hc_error *err)
{
    size_t before = c->path_len, room = sizeof c->path - before;
    int n = value->string
                ? snprintf(c->path + before, room, "%s%.*s", before ? "." : "", LONGEST_NAME, value->string)
                : snprintf(c->path + before, room, "[%zu]", index);
    if (n > 0)
        c->path_len += (size_t)n < room ? (size_t)n : room - 1;
    if (check(c, schema, value, err) < 0)
        return -1;
    c->path_len = before;
    c->path[before] = '\0';
    return 0;
}

static bool has_type(const cJSON *value, const char *type)
{
    const bool holds[TYPES] = {
        cJSON_IsNull(value),
        cJSON_IsBool(value),
        cJSON_IsNumber(value) && value->valuedouble == floor(value->valuedouble),
        cJSON_IsNumber(value),
        cJSON_IsString(value),
        cJSON_IsArray(value),
        cJSON_IsObject(value),
    };
    for (size_t i = 0; i < TYPES; i++)
        if (strcmp(types[i], type) == 0)
            return holds[i];
    return false;
}

static int check_type(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                      struct hc_error *err)
{
    (void)schema;
    const cJSON *one;
    char list[96] = "";
    if (cJSON_IsString(want))
        return has_type(value, want->valuestring)
                   ? 0
                   : misfit(c, err, "expected type %s, got %s", want->valuestring, hc_json_kind(value));
    cJSON_ArrayForEach(one, want)
    {
        if (has_type(value, one->valuestring))
            return 0;
        size_t len = strlen(list);
        (void)snprintf(list + len, sizeof list - len, "%s%s", len ? " or " : "", one->valuestring);
    }
    return misfit(c, err, "expected type %s, got %s", list, hc_json_kind(value));
}

static int check_properties(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                            struct hc_error *err)
{
    (void)schema;
    const cJSON *one;
    if (!cJSON_IsObject(value))
        return 0;
    cJSON_ArrayForEach(one, want)
    {
        const cJSON *given = hc_json_member(value, one->string);
        if (given && check_below(c, one, given, 0, err) < 0)
            return -1;
    }
    return 0;
}

static int check_required(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                          struct hc_error *err)
{
    (void)schema;
    const cJSON *one;
    cJSON_ArrayForEach(one, want)
    {
        if (cJSON_IsObject(value) && !hc_json_member(value, one->valuestring))
            return misfit(c, err, "'%.*s' is missing", LONGEST_NAME, one->valuestring);
    }
    return 0;
}

static int check_additional(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                            struct hc_error *err)
{
    const cJSON *properties = hc_json_member(schema, "properties"), *given;
    if (!cJSON_IsObject(value) || cJSON_IsTrue(want))
        return 0;
    cJSON_ArrayForEach(given, value)
    {
        if (hc_json_member(properties, given->string))
            continue;
        if (cJSON_IsFalse(want))
            return misfit(c, err, "'%.*s' is not expected", LONGEST_NAME, given->string);
        if (check_below(c, want, given, 0, err) < 0)
            return -1;
    }
    return 0;
}

static int check_items(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                       struct hc_error *err)
{
    (void)schema;
    const cJSON *item;
    size_t index = 0;
    if (!cJSON_IsArray(value))
        return 0;
    cJSON_ArrayForEach(item, value)
    {
        if (check_below(c, want, item, index++, err) < 0)
            return -1;
    }
    return 0;
}

/* Writes a value of the schema into `out` for a message. */
static void quote_value(const cJSON *value, char *out, size_t size)
{
    char *text = cJSON_PrintUnformatted(value);
    (void)snprintf(out, size, "%s", text ? text : "another value");
    cJSON_free(text);
}

static int check_enum(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                      struct hc_error *err)
{
    (void)schema;
    const cJSON *one;
    char list[200] = "";
    cJSON_ArrayForEach(one, want)
    {
        if (cJSON_Compare(one, value, true))
            return 0;
        size_t len = strlen(list);
        if (len < sizeof list - 1)
            (void)snprintf(list + len, sizeof list - len, "%s", len ? ", " : "");
        len = strlen(list);
        quote_value(one, list + len, sizeof list - len);
    }
    return misfit(c, err, "expected one of %s", list);
}

static int check_const(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                       struct hc_error *err)
{
    (void)schema;
    char text[80];
    if (cJSON_Compare(want, value, true))
        return 0;
    quote_value(want, text, sizeof text);
    return misfit(c, err, "expected %s", text);
}

static int check_minimum(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                         struct hc_error *err)
{
    (void)schema;
    bool fits = !cJSON_IsNumber(value) || value->valuedouble >= want->valuedouble;
    return fits ? 0 : misfit(c, err, "expected at least %.15g", want->valuedouble);
}

static int check_maximum(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                         struct hc_error *err)
{
    (void)schema;
    bool fits = !cJSON_IsNumber(value) || value->valuedouble <= want->valuedouble;
    return fits ? 0 : misfit(c, err, "expected at most %.15g", want->valuedouble);
}

static size_t characters(const char *text)
{
    return hc_utf8_count(text, strlen(text));
}

static int check_min_length(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                            struct hc_error *err)
{
    (void)schema;
    bool fits = !cJSON_IsString(value) || (double)characters(value->valuestring) >= want->valuedouble;
    return fits ? 0 : misfit(c, err, "expected at least %.15g characters", want->valuedouble);
}

static int check_max_length(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                            struct hc_error *err)
{
    (void)schema;
    bool fits = !cJSON_IsString(value) || (double)characters(value->valuestring) <= want->valuedouble;
    return fits ? 0 : misfit(c, err, "expected at most %.15g characters", want->valuedouble);
}

static int check_min_items(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                           struct hc_error *err)
{
    (void)schema;
    bool fits = !cJSON_IsArray(value) || cJSON_GetArraySize(value) >= want->valuedouble;
    return fits ? 0 : misfit(c, err, "expected at least %.15g items", want->valuedouble);
}

static int check_max_items(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                           struct hc_error *err)
{
    (void)schema;
    bool fits = !cJSON_IsArray(value) || cJSON_GetArraySize(value) <= want->valuedouble;
    return fits ? 0 : misfit(c, err, "expected at most %.15g items", want->valuedouble);
}

static int match_pattern(const struct hc_schema *s, const pcre2_code *code, const char *text)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int rc = data ? pcre2_match(code, (PCRE2_SPTR)text, strlen(text), 0, 0, data, s->limits)
                  : PCRE2_ERROR_NOMEMORY;
    pcre2_match_data_free(data);
    return rc;
}

static int check_pattern(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                         struct hc_error *err)
{
    (void)schema;
    const struct hc_schema *s = c->schema;
    if (!cJSON_IsString(value))
        return 0;
    for (size_t i = 0; i < s->pattern_count; i++) {
        if (s->patterns[i].node != want)
            continue;
        int rc = match_pattern(s, s->patterns[i].code, value->valuestring);
        if (rc >= 0)
            return 0;
        return rc == PCRE2_ERROR_NOMATCH
                   ? misfit(c, err, "expected text that matches %.120s", want->valuestring)
                   : misfit(c, err, "matching it against its pattern takes too long");
    }
    return misfit(c, err,
                  "its pattern is not there"); /* cannot happen: hc_schema_new compiled all patterns */
}

static int check_nothing(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                         struct hc_error *err)
{
    (void)c;
    (void)schema;
    (void)want;
    (void)value;
    (void)err;
    return 0;
}

/* ---- the keywords ---- */

static const struct keyword {
    const char *name; /* name of the keyword */
    /* Check the keyword's value when the schema is read; check a value against it. */
    int (*read)(struct reading *r, const cJSON *node, struct hc_error *err);
    int (*check)(struct checking *c, const cJSON *schema, const cJSON *want, const cJSON *value,
                 struct hc_error *err);
} keywords[] = {
    {"type", read_type, check_type},
    {"properties", read_properties, check_properties},
    {"required", read_required, check_required},
    {"additionalProperties", read_additional, check_additional},
    {"items", read_items, check_items},
    {"enum", read_enum, check_enum},
    {"const", read_any, check_const},
    {"minimum", read_number, check_minimum},
    {"maximum", read_number, check_maximum},
    {"minLength", read_count, check_min_length},
    {"maxLength", read_count, check_max_length},
    {"pattern", read_pattern, check_pattern},
    {"minItems", read_count, check_min_items},
    {"maxItems", read_count, check_max_items},
    {"default", read_any, check_nothing},
    {"title", read_text, check_nothing},
    {"description", read_text, check_nothing},
};

#define KEYWORDS (sizeof keywords / sizeof *keywords)

static const struct keyword *find_keyword(const char *name)
{
    for (size_t i = 0; i < KEYWORDS; i++)
        if (strcmp(keywords[i].name, name) == 0)
            return &keywords[i];
    return NULL;
}

static int read_schema(struct reading *r, const cJSON *node, struct hc_error *err)
{
    const cJSON *one;
    if (!cJSON_IsObject(node))
        return hc_json_fail(r->json, node, false, err, "%s: expected a schema (an object), got %s", r->label,
                            hc_json_kind(node));
    cJSON_ArrayForEach(one, node)
    {
        const struct keyword *keyword = find_keyword(one->string);
        if (!keyword)
            return hc_json_fail(r->json, one, true, err,
                                "%s: '%.64s' is no keyword that this program knows (hotcell-policy(5))",
                                r->label, one->string);
        if (keyword->read(r, one, err) < 0)
            return -1;
    }
    return 0;
}

static int check(struct checking *c, const cJSON *schema, const cJSON *value, struct hc_error *err)
{
    const cJSON *want;
    cJSON_ArrayForEach(want, schema)
    {
        const struct keyword *keyword = find_keyword(want->string);
        if (keyword && keyword->check(c, schema, want, value, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- a whole schema ---- */

/* Compiles all patterns at and below `node`, which read_schema has accepted. `schema`: `node` is a schema;
 * else it is an object whose values are schemas ("properties"). False: out of memory. */
static bool compile_all(struct hc_schema *s, const cJSON *node, bool schema)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, node)
    {
        if (schema && strcmp(one->string, "pattern") == 0) {
            char why[120];
            size_t at;
            struct pattern *p = &s->patterns[s->pattern_count];
            *p = (struct pattern){one, compile_pattern(one->valuestring, why, sizeof why, &at)};
            if (!p->code)
                return false;
            s->pattern_count++;
        } else if (schema && strcmp(one->string, "properties") == 0) {
            if (!compile_all(s, one, false))
                return false;
        } else if (!schema || strcmp(one->string, "items") == 0 ||
                   strcmp(one->string, "additionalProperties") == 0) {
            if (!compile_all(s, one, true))
                return false;
        }
    }
    return true;
}

void hc_schema_free(struct hc_schema *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->pattern_count; i++)
        pcre2_code_free(s->patterns[i].code);
    pcre2_match_context_free(s->limits);
    cJSON_Delete(s->root);
    free(s);
}

static bool fill_schema(struct hc_schema *s, const cJSON *node)
{
    s->root = cJSON_Duplicate(node, true);
    s->limits = pcre2_match_context_create(NULL);
    if (!s->root || !s->limits)
        return false;
    /* The text that is matched may be hostile: a match that takes long is an error. */
    (void)pcre2_set_match_limit(s->limits, 100000);
    (void)pcre2_set_depth_limit(s->limits, 10000);
    (void)pcre2_set_heap_limit(s->limits, 4096); /* KiB */
    return compile_all(s, s->root, true);
}

int hc_schema_new(struct hc_schema **out, const struct hc_json *j, const cJSON *node, const char *label,
                  struct hc_error *err)
{
    struct reading r = {.json = j, .label = label};
    *out = NULL;
    if (read_schema(&r, node, err) < 0)
        return -1;
    struct hc_schema *s = calloc(1, sizeof *s);
    if (!s || !fill_schema(s, node)) {
        hc_schema_free(s);
        return hc_fail(err, ENOMEM, "%s", label);
    }
    *out = s;
    return 0;
}

const cJSON *hc_schema_json(const struct hc_schema *s)
{
    return s->root;
}

const cJSON *hc_schema_property(const struct hc_schema *s, const char *name)
{
    return hc_json_member(hc_json_member(s->root, "properties"), name);
}

int hc_schema_check(const struct hc_schema *s, const cJSON *value, struct hc_error *err)
{
    struct checking c = {.schema = s};
    return check(&c, s->root, value, err);
}
