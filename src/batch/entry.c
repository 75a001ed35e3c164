#include "batch/entry.h"

#include "json/json.h"
#include "json/names.h"

#include <stdio.h>
#include <string.h>

static const char *const keys[HC_ENTRY_KINDS] = {
    [HC_ENTRY_BATCH] = "batch", [HC_ENTRY_BLANK] = "blank", [HC_ENTRY_BEGIN] = "begin",
    [HC_ENTRY_START] = "start", [HC_ENTRY_BACK] = "back",   [HC_ENTRY_END] = "end",
};

/* The name of the JSON that an entry of this kind may have. */
static const char *payload_key(enum hc_entry_kind kind)
{
    return kind == HC_ENTRY_BATCH ? "under" : "result";
}

/* ---- printing ---- */

static void print_batch(struct hc_buf *out, const struct hc_entry *e)
{
    (void)hc_buf_fmt(out,
                     "{\"batch\": {\"version\": %d, \"started\": \"%s\", \"boot\": \"%s\", \"shard\": %lld, "
                     "\"shards\": %lld, \"ordered\": %s, \"merged\": %s}",
                     HC_BATCH_VERSION, e->started, e->boot, (long long)e->shard, (long long)e->shards,
                     e->ordered ? "true" : "false", e->merged ? "true" : "false");
}

void hc_entry_print(struct hc_buf *out, const struct hc_entry *e, const char *result, size_t len)
{
    if (e->kind == HC_ENTRY_BATCH)
        print_batch(out, e);
    else
        (void)hc_buf_fmt(out, "{\"%s\": %lld", keys[e->kind], (long long)e->line);
    if (e->kind == HC_ENTRY_BEGIN)
        (void)hc_buf_fmt(out, ", \"job_id\": \"%s\", \"attempt\": %lld, \"bytes\": %lld, \"sha256\": \"%s\"",
                         e->job_id, (long long)e->attempt, (long long)e->bytes, e->sha256);
    if (e->kind == HC_ENTRY_END && *e->job_id)
        (void)hc_buf_fmt(out, ", \"job_id\": \"%s\"", e->job_id);
    if (e->kind == HC_ENTRY_END)
        (void)hc_buf_fmt(out, ", \"status\": \"%s\"", e->status);
    if (result) {
        (void)hc_buf_fmt(out, ", \"%s\": ", payload_key(e->kind));
        (void)hc_buf_add(out, result, len);
    }
    (void)hc_buf_str(out, "}\n");
}

/* ---- parsing ---- */

/* Reads a whole number, at least `least`, that a double holds exactly. */
static int parse_number(const struct hc_json *j, const cJSON *of, const char *name, int64_t least,
                        int64_t *out, struct hc_error *err)
{
    const cJSON *node = hc_json_member(of, name);
    double value = cJSON_IsNumber(node) ? node->valuedouble : -1;
    if (!(value >= (double)least && value < 9e15) || value != (double)(int64_t)value)
        return hc_json_fail(j, node ? node : of, false, err, "%s: expected a whole number from %lld on", name,
                            (long long)least);
    *out = (int64_t)value;
    return 0;
}

/* Does the text need no escapes in JSON? Words of hotcell's own never do. */
static bool is_plain(const char *text)
{
    while (*text >= 0x20 && *text < 0x7f && *text != '"' && *text != '\\')
        text++;
    return !*text;
}

static int parse_text(const struct hc_json *j, const cJSON *of, const char *name, char *out, size_t size,
                      struct hc_error *err)
{
    const cJSON *node = hc_json_member(of, name);
    if (!cJSON_IsString(node) || strlen(node->valuestring) >= size || !is_plain(node->valuestring))
        return hc_json_fail(j, node ? node : of, false, err, "%s: expected plain text of less than %zu bytes",
                            name, size);
    memcpy(out, node->valuestring, strlen(node->valuestring) + 1);
    return 0;
}

static int parse_id(const struct hc_json *j, struct hc_entry *e, struct hc_error *err)
{
    if (parse_text(j, j->root, "job_id", e->job_id, sizeof e->job_id, err) < 0)
        return -1;
    if (!hc_is_id(e->job_id, 64))
        return hc_json_fail(j, hc_json_member(j->root, "job_id"), false, err, "job_id: expected an ID");
    return 0;
}

/* Notes where the entry's JSON is, if it has any. */
static int find_payload(const struct hc_json *j, struct hc_entry *e, struct hc_error *err)
{
    const char *key = payload_key(e->kind);
    const cJSON *node = hc_json_member(j->root, key);
    if (!node)
        return 0;
    const char *at = cJSON_IsObject(node) ? hc_json_source(j, node, &e->result_len) : NULL;
    if (!at)
        return hc_json_fail(j, node, false, err, "%s: expected an object", key);
    e->result = (size_t)(at - j->text);
    return 0;
}

static int parse_batch(const struct hc_json *j, struct hc_entry *e, struct hc_error *err)
{
    const cJSON *b = hc_json_member(j->root, "batch");
    int64_t version = 0;
    if (parse_number(j, b, "version", 1, &version, err) < 0)
        return -1;
    if (version != HC_BATCH_VERSION)
        return hc_json_fail(j, b, false, err, "written by another version of hotcell");
    if (parse_number(j, b, "shards", 1, &e->shards, err) < 0 ||
        parse_number(j, b, "shard", 1, &e->shard, err) < 0 ||
        parse_text(j, b, "boot", e->boot, sizeof e->boot, err) < 0 ||
        parse_text(j, b, "started", e->started, sizeof e->started, err) < 0)
        return -1;
    if (e->shards > HC_BATCH_SHARDS || e->shard > e->shards)
        return hc_json_fail(j, b, false, err, "shard: expected at most %d of them", HC_BATCH_SHARDS);
    e->ordered = hc_json_is_true(b, "ordered");
    e->merged = hc_json_is_true(b, "merged");
    return find_payload(j, e, err);
}

static int parse_end(const struct hc_json *j, struct hc_entry *e, struct hc_error *err)
{
    if (parse_text(j, j->root, "status", e->status, sizeof e->status, err) < 0 ||
        (hc_json_member(j->root, "job_id") && parse_id(j, e, err) < 0))
        return -1;
    return find_payload(j, e, err);
}

static int parse_line(const struct hc_json *j, struct hc_entry *e, struct hc_error *err)
{
    if (parse_number(j, j->root, keys[e->kind], 1, &e->line, err) < 0)
        return -1;
    if (e->kind == HC_ENTRY_END)
        return parse_end(j, e, err);
    if (e->kind != HC_ENTRY_BEGIN)
        return 0;
    return parse_id(j, e, err) < 0 || parse_number(j, j->root, "attempt", 1, &e->attempt, err) < 0 ||
                   parse_number(j, j->root, "bytes", 0, &e->bytes, err) < 0 ||
                   parse_text(j, j->root, "sha256", e->sha256, sizeof e->sha256, err) < 0
               ? -1
               : 0;
}

static int parse(const struct hc_json *j, struct hc_entry *e, struct hc_error *err)
{
    for (int kind = 0; cJSON_IsObject(j->root) && kind < HC_ENTRY_KINDS; kind++) {
        e->kind = (enum hc_entry_kind)kind;
        const cJSON *node = hc_json_member(j->root, keys[kind]);
        if (node)
            return kind != HC_ENTRY_BATCH ? parse_line(j, e, err) : parse_batch(j, e, err);
    }
    return hc_json_fail(j, j->root, false, err, "expected batch, blank, begin, start, back or end");
}

int hc_entry_parse(struct hc_entry *e, const char *name, const char *text, size_t len, struct hc_error *err)
{
    struct hc_json j;
    *e = (struct hc_entry){0};
    if (hc_json_parse(&j, name, text, len, err) < 0)
        return -1;
    int rc = parse(&j, e, err);
    hc_json_finish(&j);
    return rc;
}
