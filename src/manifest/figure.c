#include "manifest/figure.h"

#include "base/utf8.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

#define DIRECTORY_MAX 63  /* most bytes of the directory's name */
#define FILE_MAX      255 /* most bytes of the figure's name in it */

static bool is_part(const char *part, size_t len, size_t most)
{
    if (len == 0 || len > most || part[0] == '.')
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)part[i] < 0x20 || part[i] == 0x7f || part[i] == '/')
            return false;
    return hc_utf8_valid(part, len, NULL);
}

bool hc_figure_is_path(const char *path)
{
    const char *slash = strchr(path, '/');
    return slash && is_part(path, (size_t)(slash - path), DIRECTORY_MAX) &&
           is_part(slash + 1, strlen(slash + 1), FILE_MAX);
}

void hc_figure_tell(const char *path, struct hc_buf *out)
{
    (void)hc_buf_str(out, "{\"path\":");
    hc_json_quote(out, path, strlen(path));
    (void)hc_buf_str(out, "}");
}

int hc_figure_parse(struct hc_figure *out, const char *data, size_t len, struct hc_error *err)
{
    struct hc_json j;
    *out = (struct hc_figure){0};
    if (hc_json_parse(&j, "figure", data, len, err) < 0)
        return -1;
    const char *path = hc_json_text(j.root, "path");
    bool good = cJSON_IsObject(j.root) && cJSON_GetArraySize(j.root) == 1 && hc_figure_is_path(path);
    if (good)
        (void)snprintf(out->path, sizeof out->path, "%s", path);
    hc_json_finish(&j);
    return good ? 0 : hc_fail(err, 0, "figure: expected the path of one, DIRECTORY/NAME");
}

void hc_figure_print(const struct hc_figure *f, struct hc_buf *out)
{
    (void)hc_buf_str(out, "{\"path\": ");
    hc_json_quote(out, f->path, strlen(f->path));
    (void)hc_buf_str(out, ", \"mime\": ");
    hc_json_quote(out, f->mime, strlen(f->mime));
    (void)hc_buf_fmt(out, ", \"bytes\": %lld}", (long long)f->bytes);
}

const char *hc_figure_mime(const char *directory, const char *path)
{
    static const struct {
        const char *ending, *mime;
    } forms[] = {{".png", "image/png"},
                 {".svg", "image/svg+xml"},
                 {".pdf", "application/pdf"},
                 {".json", "application/vnd.plotly.v1+json"},
                 {".html", "text/html"}};
    const char *dot = strrchr(path, '.');
    size_t len = strlen(directory);
    if (strncmp(path, directory, len) != 0 || path[len] != '/' || strchr(path + len + 1, '/') || !dot)
        return NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(dot, forms[i].ending) == 0)
            return forms[i].mime;
    return NULL;
}
