#include "base/plain.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

static const struct {
    uint32_t first, last; /* a range of code points, both inclusive */
} unseen[] = {
    {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200b},   {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xfff9, 0xfffb}, {0xffa0, 0xffa0}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool hc_is_unseen(uint32_t c)
{
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
        if (c >= unseen[i].first && c <= unseen[i].last)
            return true;
    return false;
}

/* Decode the next character of a text that has not ended. *good: it is well-formed. Returns its number of
 * bytes. */
static int next_character(const char *text, uint32_t *c, bool *good)
{
    const unsigned char *p = (const unsigned char *)text;
    int n = hc_utf8_sequence(p, strnlen(text, 4));
    *good = n > 0;
    *c = n > 0 ? hc_utf8_decode(p, n) : *p;
    return n > 0 ? n : -n;
}

void hc_plain_line(char *text)
{
    char *to = text;
    while (*text) {
        uint32_t c;
        bool good;
        int n = next_character(text, &c, &good);
        if (good && !hc_is_unseen(c)) {
            memmove(to, text, (size_t)n);
            to += n;
        } else {
            *to++ = '?';
        }
        text += n;
    }
    *to = '\0';
}

void hc_plain_ascii(char *out, size_t size, const char *text)
{
    size_t used = 0;
    while (*text) {
        char one[16];
        uint32_t c;
        bool good;
        int n = next_character(text, &c, &good);
        if (good && c >= 0x20 && c < 0x7f)
            (void)snprintf(one, sizeof one, "%c", (int)c);
        else if (good)
            (void)snprintf(one, sizeof one, c > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)c);
        else
            (void)snprintf(one, sizeof one, "\\x%02x", (unsigned)*(const unsigned char *)text);
        size_t len = strlen(one);
        if (used + len >= size)
            break;
        memcpy(out + used, one, len);
        used += len;
        text += good ? n : 1;
    }
    out[used] = '\0';
}

void hc_plain_print(const char *text)
{
    while (*text) {
        uint32_t c;
        bool good;
        int n = next_character(text, &c, &good);
        if (good && !hc_is_unseen(c))
            (void)fwrite(text, 1, (size_t)n, stdout);
        else
            (void)putchar('?');
        text += n;
    }
}
