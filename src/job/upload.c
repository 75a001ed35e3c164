/* Inputs whose content comes inside a spec, as text or base64. */
#include "job/job_parts.h"

#include "json/names.h"

#include <errno.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_NAME 200 /* most bytes of an uploaded file's name */

void hc_uploads_finish(struct hc_uploads *uploads)
{
    for (size_t i = 0; i < uploads->count; i++) {
        free(uploads->list[i].data);
        free(uploads->list[i].upload);
    }
    *uploads = (struct hc_uploads){0};
}

/* Why `name` is refused as the name of a file; NULL: it is good. The name is shown to people, and its ending
 * decides how the content is read. */
static const char *bad_file_name(const char *name)
{
    if (!*name || name[0] == '.')
        return "expected a file's name that does not begin with a dot";
    if (strlen(name) > MAX_FILE_NAME)
        return "the name is too long";
    for (const char *p = name; *p; p++)
        if (*p == '/' || (unsigned char)*p < 0x20 || *p == 0x7f)
            return "expected a name without slashes and control characters";
    return NULL;
}

const char *hc_job_bad_place(const char *path)
{
    if (strlen(path) > MAX_FILE_NAME)
        return "the path is too long";
    for (const char *at = path;; at++) {
        size_t len = strcspn(at, "/");
        if (!len || *at == '.')
            return "expected a relative path, no part of which begins with a dot";
        for (size_t i = 0; i < len; i++)
            if ((unsigned char)at[i] < 0x20 || at[i] == 0x7f)
                return "expected a path without control characters";
        at += len;
        if (!*at)
            return NULL;
    }
}

const char *hc_job_bad_own_file(const char *path)
{
    if (strncmp(path, "/output/", strlen("/output/")) == 0)
        path += strlen("/output/");
    for (const char *part = path; part;) {
        const size_t len = strcspn(part, "/");
        if (len == 0 || (len == 1 && *part == '.') || (len == 2 && strncmp(part, "..", 2) == 0))
            return "expected the path of a file below the session's working directory, /output";
        part = part[len] ? part + len + 1 : NULL;
    }
    return NULL;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int hc_job_decode_base64(const char *text, char **data, size_t *len, struct hc_error *err)
{
    size_t text_len = strlen(text), room = text_len / 4 * 3 + 3;
    const char *end = NULL;
    char *out = malloc(room);
    if (!out)
        return hc_fail(err, ENOMEM, "decode base64");
    if (sodium_base642bin((unsigned char *)out, room, text, text_len, "\r\n", len, &end,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        end != text + text_len) {
        free(out);
        return 1;
    }
    *data = out;
    return 0;
}

/* The members of an input; NULL: the input lacks that member. */
struct parts {
    const cJSON *file, *place, *text, *data, *upload, *path;
};

static int find_parts(struct parts *p, const struct hc_json *json, const cJSON *node, struct hc_error *err)
{
    const cJSON *member;
    if (!cJSON_IsObject(node))
        return hc_json_fail(json, node, false, err,
                            "inputs.%s: expected an object with \"text\", \"data\" or \"upload\", got %s",
                            node->string, hc_json_kind(node));
    cJSON_ArrayForEach(member, node)
    {
        const cJSON **part = strcmp(member->string, "file") == 0     ? &p->file
                             : strcmp(member->string, "place") == 0  ? &p->place
                             : strcmp(member->string, "text") == 0   ? &p->text
                             : strcmp(member->string, "data") == 0   ? &p->data
                             : strcmp(member->string, "upload") == 0 ? &p->upload
                             : strcmp(member->string, "path") == 0   ? &p->path
                                                                     : NULL;
        if (!part)
            return hc_json_fail(
                json, member, true, err,
                "inputs.%s: unknown member '%.64s'; expected file, place, text, data, upload, path",
                node->string, member->string);
        if (!cJSON_IsString(member))
            return hc_json_fail(json, member, false, err, "inputs.%s.%s: expected a string, got %s",
                                node->string, member->string, hc_json_kind(member));
        *part = member;
    }
    if ((p->text != NULL) + (p->data != NULL) + (p->upload != NULL) + (p->path != NULL) != 1)
        return hc_json_fail(json, node, false, err,
                            "inputs.%s: expected one of \"text\", \"data\" and \"upload\"", node->string);
    if (p->upload && !hc_is_id(p->upload->valuestring, HC_JOB_NAME))
        return hc_json_fail(json, p->upload, false, err, "inputs.%s.upload: expected the id of an upload",
                            node->string);
    return 0;
}

static int take_content(struct hc_uploads *uploads, const struct hc_json *json, const struct parts *p,
                        const char *name, struct hc_error *err)
{
    char *data = NULL;
    size_t len = 0;
    int rc = 0;
    if (p->upload) {
        uploads->list[uploads->count].upload = strdup(p->upload->valuestring);
        rc = uploads->list[uploads->count].upload ? 0 : hc_fail(err, ENOMEM, "inputs.%s", name);
    } else if (p->data)
        rc = hc_job_decode_base64(p->data->valuestring, &data, &len, err);
    else if (!(data = strdup(p->text ? p->text->valuestring : "")))
        rc = hc_fail(err, ENOMEM, "inputs.%s", name);
    else
        len = strlen(data);
    if (rc > 0)
        return hc_json_fail(json, p->data, false, err, "inputs.%s.data: expected base64%s%.80s%s", name,
                            p->place ? " for the file '" : "", p->place ? p->place->valuestring : "",
                            p->place ? "'" : "");
    if (rc < 0)
        return -1;
    uploads->list[uploads->count].data = data;
    uploads->list[uploads->count++].len = len;
    return 0;
}

int hc_job_put_upload(struct hc_uploads *uploads, const struct hc_json *json, const cJSON *node,
                      const char *name, char **file, char **place, struct hc_error *err)
{
    struct parts p = {0};
    *file = *place = NULL;
    if (find_parts(&p, json, node, err) < 0)
        return -1;
    const char *bad = p.file ? bad_file_name(p.file->valuestring) : NULL;
    if (bad)
        return hc_json_fail(json, p.file, false, err, "inputs.%s.file: %s", node->string, bad);
    bad = p.place ? hc_job_bad_place(p.place->valuestring) : NULL;
    if (bad)
        return hc_json_fail(json, p.place, false, err, "inputs.%s.place: %s", node->string, bad);
    *file = strdup(p.file ? p.file->valuestring : p.path ? last_part(p.path->valuestring) : name);
    *place = p.place ? strdup(p.place->valuestring) : NULL;
    int rc = !*file || (p.place && !*place) ? hc_fail(err, ENOMEM, "inputs.%s", node->string)
                                            : take_content(uploads, json, &p, node->string, err);
    if (rc == 0)
        return 0;
    free(*file);
    free(*place);
    *file = *place = NULL;
    return -1;
}
