#include "mcp/mime.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *ending, *mime; /* end of a file's name, with the dot; MIME type of such files */
    bool image;                /* models accept the format */
} kinds[] = {
    {".png", "image/png", true},        {".jpg", "image/jpeg", true},
    {".jpeg", "image/jpeg", true},      {".gif", "image/gif", true},
    {".webp", "image/webp", true},      {".svg", "image/svg+xml", false},
    {".pdf", "application/pdf", false}, {".json", "application/json", false},
    {".csv", "text/csv", false},        {".txt", "text/plain", false},
    {".md", "text/markdown", false},    {".html", "text/html", false},
    {".py", "text/x-python", false},    {".jsonl", "application/jsonl", false},
    {".xml", "application/xml", false}, {".tsv", "text/tab-separated-values", false},
};

#define KINDS (sizeof kinds / sizeof *kinds)

const char *hc_mime_of(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');
    for (size_t i = 0; dot && i < KINDS; i++)
        if (strcasecmp(dot, kinds[i].ending) == 0)
            return kinds[i].mime;
    return "application/octet-stream";
}

bool hc_mime_is_image(const char *mime)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].image && strcmp(mime, kinds[i].mime) == 0)
            return true;
    return false;
}
