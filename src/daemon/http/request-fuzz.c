/* Any bytes as the lines of a head, as a path, as a body, and as the answer to a tool's call: what is
 * accepted is what was sent, and has only one meaning. */
#include "daemon/http/request.h"
#include "daemon/queue/tool_link.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* "Name:value", a line each. */
static void take_head(char *text)
{
    struct hc_head head = {0};
    struct hc_error err = {0};
    char *line;
    int lengths = 0, codings = 0;
    while ((line = strsep(&text, "\n"))) {
        char *value = strchr(line, ':');
        if (value)
            *value++ = '\0';
        if (hc_head_take(&head, line, value ? value : "", &err) < 0) {
            require(err.exit == HC_EXIT_DATA && *err.text);
            return;
        }
        require(*line && !strpbrk(line, " \t\r:") && !(value && strpbrk(value, "\r\x7f\x1b")));
        lengths += strcasecmp(line, "content-length") == 0;
        codings += strcasecmp(line, "transfer-encoding") == 0;
        require(lengths + codings <= 1);
    }
    (void)hc_head_end(&head, "HTTP/1.1", NULL, &err);
}

static void take_path(const char *path)
{
    static const char *const patterns[] = {"/v1/jobs", "/v1/jobs/{id}", "/v1/jobs/{id}/events",
                                           "/v1/jobs/{id}/files/{rest}"};
    int fitting = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct hc_path_parts parts;
        if (!hc_path_fits(patterns[i], path, &parts))
            continue;
        fitting++;
        require(!parts.id || (parts.id_len > 0 && !memchr(parts.id, '/', parts.id_len) &&
                              parts.id + parts.id_len <= path + strlen(path)));
        require(!parts.rest || (*parts.rest && parts.rest + strlen(parts.rest) == path + strlen(path)));
    }
    require(fitting <= 1);
    require(!hc_has_word(path, "respond-async") || strcasestr(path, "respond-async"));
}

static void take_body(const char *text, size_t len)
{
    struct hc_json j, again;
    struct hc_error err = {0};
    if (hc_json_parse(&j, "request", text, len, &err) < 0)
        return;
    for (int i = 0; i < 2; i++) {
        size_t n = 0;
        const char *source = hc_request_member(&j, i ? "name" : NULL, &n, &err);
        if (!source)
            continue;
        hc_autobuf line = {0};
        hc_json_one_line(&line, source, n);
        require(!memchr(line.data, '\n', line.len));
        require(hc_json_parse(&again, "again", line.data, line.len, &err) == 0);
        hc_json_finish(&again);
    }
    hc_json_finish(&j);
}

static void take_answer(const char *text, size_t len)
{
    struct hc_json j;
    struct hc_error err = {0};
    hc_autobuf line = {0};
    const struct hc_open_call call = {.id = 7, .most = 100};
    int rc = hc_tool_answer_line(&line, &call, text, len, &err);
    require(rc == 0 || *err.text);
    if (rc < 0)
        return;
    require(line.len < 4096);
    require(line.len && line.data[line.len - 1] == '\n' && !memchr(line.data, '\n', line.len - 1));
    require(hc_json_parse(&j, "line", line.data, line.len, &err) == 0);
    require(cJSON_GetArraySize(j.root) == 2 && j.root->child->valueint == 7);
    hc_json_finish(&j);
}

static void take_range(const char *text, size_t len)
{
    uint64_t first = 0, part = 0;
    if (hc_range_read(text, len, &first, &part) == HC_RANGE_PART)
        require(part && first < len && part <= len - first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = malloc(len + 1);
    require(text != NULL);
    memcpy(text, data, len);
    text[len] = '\0';
    take_body(text, len);
    take_answer(text, len);
    take_path(text);
    take_head(text);
    take_range(text, len);
    free(text);
    return 0;
}
