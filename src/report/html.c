#include "report/html.h"

#include "base/plain.h"
#include "base/utf8.h"
#include "spec/json.h"

#include <math.h>
#include <sodium/utils.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#define MAX_STACKED 4    /* more of them would be painted over the lines above */
#define MAX_WORDS   2000 /* bytes of a text within a sentence or a cell */

/* ---- text ---- */

/* Marks that stand on the character before them: a few languages need as many as four. */
static bool is_stacked(uint32_t c)
{
    return (c >= 0x300 && c <= 0x36f) || (c >= 0x483 && c <= 0x489) || (c >= 0x1ab0 && c <= 0x1aff) ||
           (c >= 0x1dc0 && c <= 0x1dff) || (c >= 0x20d0 && c <= 0x20ff) || (c >= 0xfe20 && c <= 0xfe2f);
}

static const char *entity(uint32_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Controls have pictures of their own from U+2400 on. */
static void add_control(struct hc_buf *out, uint32_t c)
{
    const char picture[] = {'\xe2', '\x90', (char)(0x80 + c)};
    (void)hc_buf_add(out, picture, sizeof picture);
}

static void add_valid(struct hc_buf *out, const char *text, size_t len)
{
    size_t plain = 0; /* from here on nothing is copied yet */
    int stacked = 0;
    for (size_t at = 0, n; at < len; at += n) {
        const unsigned char *p = (const unsigned char *)text + at;
        n = (size_t)hc_utf8_sequence(p, len - at);
        uint32_t c = hc_utf8_decode(p, (int)n);
        const char *instead = entity(c);
        bool control = c < 0x20 && c != '\n' && c != '\t';
        stacked = is_stacked(c) ? stacked + 1 : 0;
        if (!instead && !control && (c < 0x20 || !hc_is_unseen(c)) && stacked <= MAX_STACKED)
            continue;
        (void)hc_buf_add(out, text + plain, at - plain);
        plain = at + n;
        if (instead)
            (void)hc_buf_str(out, instead);
        else if (control)
            add_control(out, c);
        else
            (void)hc_buf_fmt(out, "\xe2\x9f\xa6U+%04X\xe2\x9f\xa7", c);
    }
    (void)hc_buf_add(out, text + plain, len - plain);
}

void hc_html_text(struct hc_buf *out, const char *text, size_t len)
{
    if (hc_utf8_valid(text, len, NULL)) {
        add_valid(out, text, len);
        return;
    }
    hc_autobuf clean = {0};
    if (hc_utf8_scrub(&clean, text, len) < 0)
        out->failed = true;
    else
        add_valid(out, clean.data, clean.len);
}

/* Not within a character. */
static size_t boundary(const char *text, size_t len, size_t at)
{
    while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80)
        at++;
    return at;
}

void hc_html_bounded(struct hc_buf *out, const char *text, size_t len, size_t max)
{
    if (len <= max) {
        hc_html_text(out, text, len);
        return;
    }
    size_t head = boundary(text, len, max - max / 4), tail = boundary(text, len, len - max / 4);
    char left_out[64];
    hc_html_text(out, text, head);
    hc_html(out, "</span><span class=\"cut\">%s left out here</span><span>",
            hc_html_count((long)(tail - head), "byte", "bytes", left_out));
    hc_html_text(out, text + tail, len - tail);
}

void hc_html_base64(struct hc_buf *out, const void *data, size_t len)
{
    const unsigned char *p = data;
    char text[4 * 1024 + 1];
    for (size_t n; len; p += n, len -= n) {
        n = MIN(len, 3 * 1024);
        (void)sodium_bin2base64(text, sizeof text, p, n, sodium_base64_VARIANT_ORIGINAL);
        (void)hc_buf_str(out, text);
    }
}

/* ---- markup ---- */

/* What is no text of its own is not long, or somebody wants to hide what comes behind it. */
static void put_words(struct hc_buf *out, const char *text, size_t len)
{
    size_t shown = boundary(text, len, MIN(len, MAX_WORDS));
    char left_out[64];
    hc_html_text(out, text, shown);
    if (shown < len)
        (void)hc_buf_fmt(out, "\xe2\x80\xa6 (%s left out)",
                         hc_html_count((long)(len - shown), "byte", "bytes", left_out));
}

/* One conversion, of which `spec` begins with '%'. Returns its length. */
static size_t convert(struct hc_buf *out, const char *spec, va_list *ap)
{
    size_t len = 1 + strspn(spec + 1, ".0123456789");
    int precision = spec[1] == '.' ? spec[2] - '0' : 1;
    switch (spec[len]) {
    case 's': {
        const char *text = va_arg(*ap, const char *);
        put_words(out, text, strlen(text));
        break;
    }
    case 'd':
        (void)hc_buf_fmt(out, "%d", va_arg(*ap, int));
        break;
    case 'l':
        (void)hc_buf_fmt(out, "%ld", va_arg(*ap, long));
        return len + 2;
    case 'z':
        (void)hc_buf_fmt(out, "%zu", va_arg(*ap, size_t));
        return len + 2;
    case 'f':
        (void)hc_buf_fmt(out, "%.*f", precision, va_arg(*ap, double));
        break;
    default:
        (void)hc_buf_str(out, "%");
    }
    return len + 1;
}

void hc_html(struct hc_buf *out, const char *markup, ...)
{
    va_list ap;
    va_start(ap, markup);
    while (*markup) {
        size_t literal = strcspn(markup, "%");
        (void)hc_buf_add(out, markup, literal);
        markup += literal;
        if (*markup)
            markup += convert(out, markup, &ap);
    }
    va_end(ap);
}

/* ---- numbers for people ---- */

char *hc_html_count(long count, const char *one, const char *more, char out[64])
{
    if (count == 0)
        (void)snprintf(out, 64, "no %s", more);
    else
        (void)snprintf(out, 64, "%ld %s", count, count == 1 ? one : more);
    return out;
}

static char *unknown(char out[64])
{
    (void)snprintf(out, 64, "\xe2\x80\x93");
    return out;
}

char *hc_html_size(double bytes, char out[64])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    if (!isfinite(bytes) || bytes < 0)
        return unknown(out);
    if (bytes < 1024) {
        (void)snprintf(out, 64, "%.0f B", bytes);
        return out;
    }
    bytes /= 1024;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(out, 64, bytes < 10 ? "%.1f %s" : bytes < 1e5 ? "%.0f %s" : "%.3g %s", bytes, units[unit]);
    return out;
}

char *hc_html_time(double seconds, char out[64])
{
    if (!isfinite(seconds) || seconds < 0)
        return unknown(out);
    if (seconds == 0)
        (void)snprintf(out, 64, "0 s");
    else if (seconds < 0.001)
        (void)snprintf(out, 64, "%.0f \xc2\xb5s", seconds * 1e6);
    else if (seconds < 1)
        (void)snprintf(out, 64, "%.0f ms", seconds * 1e3);
    else if (seconds < 120)
        (void)snprintf(out, 64, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
    else if (seconds < 7200)
        (void)snprintf(out, 64, "%.0f min", seconds / 60);
    else
        (void)snprintf(out, 64, seconds < 1e9 ? "%.1f h" : "%.3g h", seconds / 3600);
    return out;
}
