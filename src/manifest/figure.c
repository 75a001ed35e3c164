#include "manifest/figure.h"

#include "base/array.h"
#include "base/utf8.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORY_MAX 63  /* most bytes of the directory's name */
#define FILE_MAX      255 /* most bytes of a figure's name in the directory */

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

void hc_figure_tell(const char *path, const char *sha256, struct hc_buf *out)
{
    (void)hc_buf_str(out, "{\"path\":");
    hc_json_quote(out, path, strlen(path));
    (void)hc_buf_str(out, ",\"sha256\":");
    hc_json_quote(out, sha256, strlen(sha256));
    (void)hc_buf_str(out, "}");
}

int hc_figure_parse(struct hc_figure *out, const char *data, size_t len, struct hc_error *err)
{
    struct hc_json j;
    *out = (struct hc_figure){0};
    if (hc_json_parse(&j, "figure", data, len, err) < 0)
        return -1;
    const char *path = hc_json_text(j.root, "path");
    const char *sha256 = hc_json_text(j.root, "sha256");
    bool good = cJSON_IsObject(j.root) && cJSON_GetArraySize(j.root) == 2 && hc_figure_is_path(path) &&
                hc_is_sha256_hex(sha256, strlen(sha256));
    if (good) {
        (void)snprintf(out->path, sizeof out->path, "%s", path);
        (void)snprintf(out->sha256, sizeof out->sha256, "%s", sha256);
    }
    hc_json_finish(&j);
    return good ? 0 : hc_fail(err, 0, "figure: expected the path of one, DIRECTORY/NAME, and its SHA-256");
}

void hc_figure_print(const struct hc_figure *f, struct hc_buf *out)
{
    (void)hc_buf_str(out, "{\"path\": ");
    hc_json_quote(out, f->path, strlen(f->path));
    (void)hc_buf_str(out, ", \"mime\": ");
    hc_json_quote(out, f->mime, strlen(f->mime));
    (void)hc_buf_fmt(out, ", \"bytes\": %lld}", (long long)f->bytes);
}

static const struct {
    const char *ending, *mime, *begins; /* `begins`: the bytes that each file of the type begins with */
} forms[] = {{".png", "image/png", "\x89PNG\r\n\x1a\n"},
             {".jpg", "image/jpeg", "\xff\xd8\xff"},
             {".jpeg", "image/jpeg", "\xff\xd8\xff"},
             {".svg", "image/svg+xml", "<"},
             {".pdf", "application/pdf", "%PDF-"},
             {".json", "application/vnd.plotly.v1+json", "{"},
             {".html", "text/html", "<"}};

const char *hc_figure_mime(const char *directory, const char *path)
{
    const char *dot = strrchr(path, '.');
    size_t len = strlen(directory);
    if (strncmp(path, directory, len) != 0 || path[len] != '/' || strchr(path + len + 1, '/') || !dot)
        return NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(dot, forms[i].ending) == 0)
            return forms[i].mime;
    return NULL;
}

bool hc_figure_begins(const char *mime, const char *data, size_t len)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(mime, forms[i].mime) == 0)
            return len >= strlen(forms[i].begins) &&
                   memcmp(data, forms[i].begins, strlen(forms[i].begins)) == 0;
    return false;
}

static struct hc_figure *find_path(const struct hc_figure_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].path, path) == 0)
            return &list->items[i];
    return NULL;
}

void hc_figure_list_add(struct hc_figure_list *list, const struct hc_figure *f)
{
    struct hc_figure *known = find_path(list, f->path);
    if (known) {
        *known = *f;
        return;
    }
    if (list->count >= HC_FIGURES_LISTED)
        return;
    struct hc_figure *grown = hc_array_grow(list->items, list->count, sizeof *grown);
    if (!grown)
        return;
    list->items = grown;
    list->items[list->count++] = *f;
}

int hc_figure_list_find(const struct hc_figure_list *list, const char *path, const char *sha256)
{
    const struct hc_figure *known = find_path(list, path);
    return known && strcmp(known->sha256, sha256) == 0 ? (int)(known - list->items) : -1;
}

void hc_figure_list_finish(struct hc_figure_list *list)
{
    free(list->items);
    *list = (struct hc_figure_list){0};
}
