/* What a request about files asks for. */
#include "cell/session/file_requests.h"

#include <errno.h>
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static int take_count(const cJSON *member, int64_t *out, struct hc_error *err)
{
    const double n = cJSON_IsNumber(member) ? member->valuedouble : -1;
    if (n < 0 || n > 9e15 || n != (double)(int64_t)n)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a whole number from 0 on", member->string);
    *out = (int64_t)n;
    return 0;
}

int hc_file_take_content(struct hc_file_request *r, const cJSON *member, struct hc_error *err)
{
    const char *text = cJSON_GetStringValue(member), *end = NULL;
    if (!text)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a string, got %s", member->string,
                          hc_json_kind(member));
    if (r->data)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected either \"text\" or \"data\"");
    const size_t len = strlen(text);
    char *data = malloc(len + 1);
    if (!data)
        return hc_fail(err, ENOMEM, "take a file");
    r->len = len;
    if (strcmp(member->string, "text") == 0) {
        memcpy(data, text, len);
    } else if (sodium_base642bin((unsigned char *)data, len + 1, text, len, "\r\n", &r->len, &end,
                                 sodium_base64_VARIANT_ORIGINAL) != 0 ||
               end != text + len) {
        free(data);
        return hc_fail_as(err, HC_EXIT_DATA, 0, "data: expected base64");
    }
    r->data = data;
    return 0;
}

static int take_string(const char **out, const cJSON *member, struct hc_error *err)
{
    *out = cJSON_GetStringValue(member);
    return *out ? 0
                : hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a string, got %s", member->string,
                             hc_json_kind(member));
}

static int take_flag(bool *out, const cJSON *member, struct hc_error *err)
{
    *out = cJSON_IsTrue(member);
    return cJSON_IsBool(member) ? 0
                                : hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected true or false, got %s",
                                             member->string, hc_json_kind(member));
}

static int take_member(struct hc_file_request *r, const cJSON *member, struct hc_error *err)
{
    const char *name = member->string;
    if (strcmp(name, "path") == 0)
        return take_string(&r->path, member, err);
    if (r->lists && strcmp(name, "after") == 0)
        return take_string(&r->after, member, err);
    if ((r->writes || r->reads) && strcmp(name, "offset") == 0)
        return take_count(member, &r->offset, err);
    if (r->reads && strcmp(name, "bytes") == 0)
        return take_count(member, &r->bytes, err);
    if (r->writes && (strcmp(name, "text") == 0 || strcmp(name, "data") == 0))
        return hc_file_take_content(r, member, err);
    if (r->writes && strcmp(name, "total") == 0)
        return take_count(member, &r->total, err);
    if (r->moves && strcmp(name, "to") == 0)
        return take_string(&r->to, member, err);
    if (r->removes && strcmp(name, "all") == 0)
        return take_flag(&r->all, member, err);
    if (r->writes && strcmp(name, "more") == 0)
        return take_flag(&r->more, member, err);
    if (r->writes && strcmp(name, "abandon") == 0)
        return take_flag(&r->abandons, member, err);
    return hc_fail_as(err, HC_EXIT_DATA, 0, "unknown member '%.64s'; expected path%s", name,
                      r->writes    ? ", offset, total, more, abandon, and text or data"
                      : r->reads   ? ", offset, bytes"
                      : r->lists   ? ", after"
                      : r->moves   ? ", to"
                      : r->removes ? ", all"
                                   : "");
}

/* Take the path relative to /output: a program knows its files by their whole path, too. */
static const char *below_output(const char *path)
{
    static const char root[] = "/output";
    if (strncmp(path, root, sizeof root - 1) == 0 && (!path[sizeof root - 1] || path[sizeof root - 1] == '/'))
        path += sizeof root - 1 + (path[sizeof root - 1] == '/');
    return *path ? path : ".";
}

/* Why the path is refused; NULL: it is good. The kernel holds it below /output in any case. */
static const char *bad_path(const char *path)
{
    if (*path == '/')
        return "expected a path below the session's working directory, /output";
    if (strlen(path) >= PATH_MAX)
        return "the path is too long";
    for (const char *part = path; part;) {
        const size_t len = strcspn(part, "/");
        if (len == 0 || (len == 1 && *part == '.') || (len == 2 && strncmp(part, "..", 2) == 0))
            return "expected a path without empty parts, \".\" and \"..\"";
        if (len > NAME_MAX)
            return "a part of the path is too long";
        part = part[len] ? part + len + 1 : NULL;
    }
    return NULL;
}

int hc_file_take_request(struct hc_file_request *r, const cJSON *node, struct hc_error *err)
{
    const cJSON *member;
    if (!cJSON_IsObject(node))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected an object, got %s", hc_json_kind(node));
    r->bytes = HC_FILE_MOST_READ;
    r->total = -1;
    r->writes = strcmp(node->string, "write_file") == 0;
    r->reads = strcmp(node->string, "read_file") == 0;
    r->lists = strcmp(node->string, "list_files") == 0;
    r->moves = strcmp(node->string, "move_file") == 0;
    r->removes = strcmp(node->string, "remove_file") == 0;
    cJSON_ArrayForEach(member, node) if (take_member(r, member, err) < 0) return -1;
    if (!r->path && r->lists)
        r->path = ".";
    if (!r->path)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "path: expected the path of a file");
    if (r->writes && !r->data && !r->abandons)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "expected either \"text\" or \"data\"");
    r->path = below_output(r->path);
    if (r->moves && !r->to)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "to: expected the new path of the file");
    r->to = r->to ? below_output(r->to) : NULL;
    const char *bad = r->lists && strcmp(r->path, ".") == 0 ? NULL : bad_path(r->path);
    if (!bad && r->to && (bad = bad_path(r->to)))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "to: %s", bad);
    return bad ? hc_fail_as(err, HC_EXIT_DATA, 0, "path: %s", bad) : 0;
}
