/* Specs. Values are kept as the JSON that the caller has written, so that numbers keep all their digits and
 * the caller's locale changes nothing. */
#include "lib/parts.h"

#include "base/fd.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE ((size_t)64 << 20) /* most bytes of a file that goes into a request */
#define VARIANT  sodium_base64_VARIANT_ORIGINAL

static const char *const sections[] = {"limits", "vars", "inputs"};

static bool is_text(const char *text, size_t len)
{
    size_t bad;
    return hc_utf8_valid(text, len, &bad);
}

static bool is_section(const char *member)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i], member) == 0)
            return true;
    return false;
}

hotcell_spec *hotcell_spec_new(void)
{
    hotcell_spec *spec = calloc(1, sizeof *spec);
    if (spec && (spec->root = cJSON_CreateObject()))
        return spec;
    free(spec);
    return NULL;
}

void hotcell_spec_free(hotcell_spec *spec)
{
    if (!spec)
        return;
    cJSON_Delete(spec->root);
    free(spec);
}

/* ---- values ---- */

/* Puts JSON that is known to be valid into an object. Line ends can only stand between its tokens. */
static int put_raw(cJSON *object, const char *name, const char *json, size_t len, struct hc_error *err)
{
    char *copy = strndup(json, len);
    if (!copy)
        return hc_fail(err, ENOMEM, "%s", name);
    for (char *p = copy; *p; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    bool put = cJSON_AddRawToObject(object, name, copy);
    free(copy);
    return put ? 0 : hc_fail(err, ENOMEM, "%s", name);
}

/* Returns the object for a section, made if need be; NULL: the section was given as something else, or there
 * is no memory. */
static cJSON *section_of(hotcell_spec *spec, const char *name)
{
    cJSON *section = cJSON_GetObjectItemCaseSensitive(spec->root, name);
    return section ? (cJSON_IsObject(section) ? section : NULL) : cJSON_AddObjectToObject(spec->root, name);
}

static int put_json(hotcell_spec *spec, const char *in, const char *name, const char *json,
                    struct hc_error *err)
{
    struct hc_json parsed;
    if (!spec || !name || !json || !is_text(name, strlen(name)))
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a spec, a name and a value");
    cJSON *object = in ? section_of(spec, in) : spec->root;
    if (!object)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "%s: expected an object", in);
    if (hc_json_parse(&parsed, name, json, strlen(json), err) < 0)
        return -1;
    size_t len;
    const char *text = hc_json_source(&parsed, parsed.root, &len);
    int rc = text ? put_raw(object, name, text, len, err) : hc_fail(err, 0, "%s", name);
    hc_json_finish(&parsed);
    return rc;
}

static int put_text(hotcell_spec *spec, const char *in, const char *name, const char *text, size_t len,
                    struct hc_error *err)
{
    hc_autobuf quoted = {0};
    if (!text || !is_text(text, len))
        return hc_fail_as(err, HC_EXIT_DATA, 0, "%.80s: expected text, which is UTF-8", name ? name : "");
    hc_json_quote(&quoted, text, len);
    if (quoted.failed)
        return hc_fail(err, ENOMEM, "%.80s", name ? name : "");
    return put_json(spec, in, name, quoted.data, err);
}

int hotcell_spec_code(hotcell_spec *spec, const char *code, size_t len, struct hotcell_error *error)
{
    struct hc_error err;
    return put_text(spec, NULL, "code", code, len, &err) < 0 ? hc_lib_tell(error, &err) : 0;
}

static int tell_text(hotcell_spec *spec, const char *in, const char *name, const char *text,
                     struct hotcell_error *error)
{
    struct hc_error err;
    return put_text(spec, in, name, text, text ? strlen(text) : 0, &err) < 0 ? hc_lib_tell(error, &err) : 0;
}

int hotcell_spec_text(hotcell_spec *spec, const char *member, const char *text, struct hotcell_error *error)
{
    return tell_text(spec, NULL, member, text, error);
}

int hotcell_spec_limit(hotcell_spec *spec, const char *limit, const char *value, struct hotcell_error *error)
{
    return tell_text(spec, "limits", limit, value, error);
}

int hotcell_spec_input(hotcell_spec *spec, const char *name, const char *path, struct hotcell_error *error)
{
    return tell_text(spec, "inputs", name, path, error);
}

int hotcell_spec_var(hotcell_spec *spec, const char *name, const char *json, struct hotcell_error *error)
{
    struct hc_error err;
    return put_json(spec, "vars", name, json, &err) < 0 ? hc_lib_tell(error, &err) : 0;
}

/* ---- members as JSON, and whole specs ---- */

/* Takes over the members of an object, each as it was written. */
static int take_members(cJSON *into, const struct hc_json *json, const cJSON *object, struct hc_error *err)
{
    const cJSON *node;
    cJSON_ArrayForEach(node, object)
    {
        size_t len;
        const char *text = hc_json_source(json, node, &len);
        if (!text || put_raw(into, node->string, text, len, err) < 0)
            return text ? -1 : hc_fail(err, 0, "%s", node->string);
    }
    return 0;
}

/* Replaces a section by the members of an object. */
static int take_section(hotcell_spec *spec, const struct hc_json *json, const cJSON *object, const char *name,
                        struct hc_error *err)
{
    cJSON_DeleteItemFromObjectCaseSensitive(spec->root, name);
    cJSON *section = cJSON_AddObjectToObject(spec->root, name);
    return section ? take_members(section, json, object, err) : hc_fail(err, ENOMEM, "%s", name);
}

static int set_member(hotcell_spec *spec, const char *member, const char *json, struct hc_error *err)
{
    struct hc_json parsed;
    if (!spec || !member || !json || !is_section(member))
        return put_json(spec, NULL, member, json, err);
    if (hc_json_parse(&parsed, member, json, strlen(json), err) < 0)
        return -1;
    int rc = cJSON_IsObject(parsed.root) ? take_section(spec, &parsed, parsed.root, member, err)
                                         : hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected an object, got %s",
                                                      member, hc_json_kind(parsed.root));
    hc_json_finish(&parsed);
    return rc;
}

int hotcell_spec_json(hotcell_spec *spec, const char *member, const char *json, struct hotcell_error *error)
{
    struct hc_error err;
    return set_member(spec, member, json, &err) < 0 ? hc_lib_tell(error, &err) : 0;
}

static int take_whole(hotcell_spec *spec, const struct hc_json *json, struct hc_error *err)
{
    const cJSON *node;
    if (!cJSON_IsObject(json->root))
        return hc_json_fail(json, json->root, false, err, "expected an object, got %s",
                            hc_json_kind(json->root));
    if (take_members(spec->root, json, json->root, err) < 0)
        return -1;
    cJSON_ArrayForEach(node, json->root)
    {
        if (is_section(node->string) && cJSON_IsObject(node) &&
            take_section(spec, json, node, node->string, err) < 0)
            return -1;
    }
    return 0;
}

hotcell_spec *hotcell_spec_parse(const char *json, size_t len, struct hotcell_error *error)
{
    struct hc_error err;
    struct hc_json parsed;
    hotcell_spec *spec = hotcell_spec_new();
    if (!spec || !json) {
        (void)hc_fail_as(&err, HC_EXIT_USAGE, spec ? EINVAL : ENOMEM, "spec");
        hotcell_spec_free(spec);
        (void)hc_lib_tell(error, &err);
        return NULL;
    }
    int rc = hc_json_parse(&parsed, "spec", json, len, &err);
    if (rc == 0) {
        rc = take_whole(spec, &parsed, &err);
        hc_json_finish(&parsed);
    }
    if (rc == 0)
        return spec;
    hotcell_spec_free(spec);
    (void)hc_lib_tell(error, &err);
    return NULL;
}

/* ---- the spec as JSON ---- */

/* The text of a member that is a string; the caller frees it. NULL: it is no string, or there is no memory.
 */
static char *text_of(const cJSON *raw, struct hc_error *err)
{
    struct hc_json json;
    if (!cJSON_IsRaw(raw) ||
        hc_json_parse(&json, "spec", raw->valuestring, strlen(raw->valuestring), err) < 0)
        return NULL;
    char *text = cJSON_IsString(json.root) ? strdup(json.root->valuestring) : NULL;
    hc_json_finish(&json);
    return text;
}

int hc_lib_output_dir(const struct hotcell_spec *spec, char **out, struct hc_error *err)
{
    const cJSON *raw = spec ? cJSON_GetObjectItemCaseSensitive(spec->root, "output_dir") : NULL;
    *out = raw ? text_of(raw, err) : NULL;
    const bool is_string = raw && raw->valuestring && raw->valuestring[0] == '"';
    return is_string && !*out ? hc_fail(err, ENOMEM, "output_dir") : 0;
}

static int put_base64(struct hc_buf *out, const struct hc_buf *data, struct hc_error *err)
{
    size_t size = sodium_base64_ENCODED_LEN(data->len, VARIANT);
    char *text = malloc(size);
    if (!text)
        return hc_fail(err, ENOMEM, "read an input");
    (void)sodium_bin2base64(text, size, (const unsigned char *)(data->data ? data->data : ""), data->len,
                            VARIANT);
    (void)hc_buf_str(out, text);
    free(text);
    return 0;
}

/* Appends an input with its content; what is no path stays as it is. */
static int put_content(struct hc_buf *out, const cJSON *input, struct hc_error *err)
{
    hc_autobuf data = {0};
    char *path = text_of(input, err);
    if (!path)
        return hc_buf_str(out, input->valuestring) < 0 ? hc_fail(err, ENOMEM, "inputs") : 0;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int rc = hc_read_file(AT_FDCWD, path, &data, MAX_FILE, err);
    if (rc < 0)
        (void)hc_ctx(err, "input %.80s", input->string);
    if (rc == 0) {
        (void)hc_buf_str(out, "{\"file\":");
        hc_json_quote(out, name, strlen(name));
        (void)hc_buf_str(out, ",\"data\":\"");
        rc = put_base64(out, &data, err);
        (void)hc_buf_str(out, "\"}");
    }
    free(path);
    return rc;
}

/* Appends the members of a section, or of the spec. */
static int put_members(struct hc_buf *out, const cJSON *object, bool contents, struct hc_error *err)
{
    const cJSON *node;
    (void)hc_buf_str(out, "{");
    cJSON_ArrayForEach(node, object)
    {
        const bool inputs = contents && strcmp(node->string, "inputs") == 0 && cJSON_IsObject(node);
        hc_json_quote(out, node->string, strlen(node->string));
        (void)hc_buf_str(out, ":");
        int rc = 0;
        if (cJSON_IsObject(node))
            rc = put_members(out, node, inputs, err);
        else if (contents && object->string)
            rc = put_content(out, node, err);
        else
            (void)hc_buf_str(out, node->valuestring);
        if (rc < 0)
            return -1;
        (void)hc_buf_str(out, node->next ? "," : "");
    }
    return hc_buf_str(out, "}") < 0 ? hc_fail(err, ENOMEM, "spec") : 0;
}

int hc_lib_print_spec(const struct hotcell_spec *spec, bool contents, struct hc_buf *out,
                      struct hc_error *err)
{
    if (!spec)
        return hc_buf_str(out, "{}") < 0 ? hc_fail(err, ENOMEM, "spec") : 0;
    return put_members(out, spec->root, contents, err);
}
