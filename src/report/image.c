#include "report/image.h"

#include "report/html.h"

#include <sodium/utils.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- what it is ---- */

/* Big-endian, 0 behind the end. */
static int number_at(const unsigned char *p, size_t len, size_t at, size_t bytes)
{
    uint32_t n = 0;
    if (len < bytes || at > len - bytes)
        return 0;
    for (size_t i = 0; i < bytes; i++)
        n = n << 8 | p[at + i];
    return n > INT32_MAX ? INT32_MAX : (int)n;
}

static bool begins(const unsigned char *p, size_t len, const char *magic, size_t magic_len)
{
    return len >= magic_len && memcmp(p, magic, magic_len) == 0;
}

static bool measure_png(const unsigned char *p, size_t len, int *width, int *height)
{
    *width = number_at(p, len, 16, 4);
    *height = number_at(p, len, 20, 4);
    return begins(p, len, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
}

static bool measure_gif(const unsigned char *p, size_t len, int *width, int *height)
{
    if (len < 10 || (!begins(p, len, "GIF87a", 6) && !begins(p, len, "GIF89a", 6)))
        return false;
    *width = p[6] | p[7] << 8;
    *height = p[8] | p[9] << 8;
    return true;
}

/* Segments, each with a marker and a length; of a frame's header (SOF) C4, C8 and CC are something else. */
static bool measure_jpeg(const unsigned char *p, size_t len, int *width, int *height)
{
    if (!begins(p, len, "\xff\xd8\xff", 3))
        return false;
    for (size_t at = 2; at + 9 < len && p[at] == 0xff;) {
        unsigned char marker = p[at + 1];
        if (marker == 0xff) {
            at++;
            continue;
        }
        if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
            *height = number_at(p, len, at + 5, 2);
            *width = number_at(p, len, at + 7, 2);
            return true;
        }
        at += 2 + (size_t)number_at(p, len, at + 2, 2);
    }
    return false;
}

static bool holds(const unsigned char *p, size_t len, const char *word)
{
    return memmem(p, len, word, strlen(word)) != NULL;
}

/* A browser runs no script of a picture and loads nothing for it; entities could make it large. Its own size
 * is in units of its own, and the page scales it. */
static bool measure_svg(const unsigned char *p, size_t len, int *width, int *height)
{
    *width = *height = 0;
    return holds(p, len < 4096 ? len : 4096, "<svg");
}

static const struct {
    const char *mime;
    bool (*measure)(const unsigned char *p, size_t len, int *width, int *height);
} kinds[] = {
    {"image/png", measure_png},
    {"image/jpeg", measure_jpeg},
    {"image/gif", measure_gif},
    {"image/svg+xml", measure_svg},
};

const char *hc_image_refusal(const char *mime, const void *data, size_t len, int *width, int *height)
{
    bool (*measure)(const unsigned char *p, size_t len, int *width, int *height) = NULL;
    *width = *height = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].mime, mime) == 0)
            measure = kinds[i].measure;
    if (!measure)
        return "a browser does not show this type as a picture";
    if (len > HC_IMAGE_MAX)
        return "it has more than 8 MiB";
    if (!measure(data, len, width, height))
        return "it does not begin as its type does";
    if ((int64_t)*width * *height > HC_IMAGE_PIXELS)
        return "it has more than 64 million pixels";
    if (measure == measure_svg && holds(data, len, "<!ENTITY"))
        return "it declares entities";
    return NULL;
}

/* ---- in the page ---- */

static void refuse(struct hc_buf *out, const char *why)
{
    hc_html(out, "<p class=\"none\">Not shown: %s.</p>", why);
}

void hc_image_put(struct hc_buf *out, const char *mime, const char *called, const void *data, size_t len,
                  size_t *room)
{
    int width, height;
    const char *why = hc_image_refusal(mime, data, len, &width, &height);
    if (!why && len > *room)
        why = "the page has 48 MiB of pictures already";
    if (why) {
        refuse(out, why);
        return;
    }
    *room -= len;
    hc_html(out, "<img alt=\"%s\" ", called);
    if (width && height)
        hc_html(out, "width=\"%d\" height=\"%d\" ", width, height);
    hc_html(out, "src=\"data:%s;base64,", mime);
    hc_html_base64(out, data, len);
    hc_html(out, "\">");
}

void hc_image_put_base64(struct hc_buf *out, const char *mime, const char *called, const char *text,
                         size_t *room)
{
    size_t len = strlen(text), decoded = 0;
    if (len > HC_IMAGE_MAX / 3 * 4) {
        refuse(out, "it has more than 8 MiB");
        return;
    }
    unsigned char *data = malloc(len + 1);
    if (!data)
        out->failed = true;
    else if (sodium_base642bin(data, len + 1, text, len, " \r\n", &decoded, NULL,
                               sodium_base64_VARIANT_ORIGINAL) < 0)
        refuse(out, "it is not base64");
    else
        hc_image_put(out, mime, called, data, decoded, room);
    free(data);
}
