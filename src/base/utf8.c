#include "base/utf8.h"

#include <string.h>

int hc_utf8_sequence(const unsigned char *p, size_t left)
{
    unsigned char lead = p[0], low = 0x80, high = 0xbf;
    int more;
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead <= 0xdf)
        more = 1;
    else if (lead >= 0xe0 && lead <= 0xef)
        more = 2;
    else if (lead >= 0xf0 && lead <= 0xf4)
        more = 3;
    else
        return -1;
    if (lead == 0xe0)
        low = 0xa0; /* overlong */
    else if (lead == 0xed)
        high = 0x9f; /* surrogates */
    else if (lead == 0xf0)
        low = 0x90; /* overlong */
    else if (lead == 0xf4)
        high = 0x8f; /* beyond U+10FFFF */
    for (int i = 1; i <= more; i++) {
        if ((size_t)i >= left || p[i] < low || p[i] > high)
            return -i;
        low = 0x80;
        high = 0xbf;
    }
    return more + 1;
}

uint32_t hc_utf8_decode(const unsigned char *p, int len)
{
    uint32_t c = len == 1 ? *p : *p & (0xffU >> (len + 1));
    for (int i = 1; i < len; i++)
        c = c << 6 | (p[i] & 0x3fU);
    return c;
}

size_t hc_utf8_encode(uint32_t c, char *out)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead[len] | c);
    return len;
}

size_t hc_utf8_unfinished(const char *text, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        char byte = text[len - back];
        if (!hc_utf8_continues(byte))
            return hc_utf8_length(byte) > back ? back : 0;
    }
    return 0;
}

size_t hc_utf8_boundary(const char *text, size_t len, size_t at)
{
    while (at < len && hc_utf8_continues(text[at]))
        at++;
    return at;
}

size_t hc_utf8_count(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += !hc_utf8_continues(text[i]);
    return count;
}

bool hc_utf8_valid(const char *text, size_t len, size_t *bad)
{
    for (size_t at = 0; at < len;) {
        int n = hc_utf8_sequence((const unsigned char *)text + at, len - at);
        if (n < 0) {
            if (bad)
                *bad = at;
            return false;
        }
        at += (size_t)n;
    }
    return true;
}

size_t hc_utf8_whole(const char *text)
{
    size_t len = strlen(text), bad;
    return hc_utf8_valid(text, len, &bad) ? len : bad;
}

int hc_utf8_scrub(struct hc_buf *out, const char *text, size_t len)
{
    size_t from = 0; /* offset of the first byte that is not copied yet */
    for (size_t at = 0; at < len;) {
        int n = hc_utf8_sequence((const unsigned char *)text + at, len - at);
        if (n > 0) {
            at += (size_t)n;
            continue;
        }
        (void)hc_buf_add(out, text + from, at - from);
        (void)hc_buf_str(out, "\xef\xbf\xbd");
        at += (size_t)-n;
        from = at;
    }
    return hc_buf_add(out, text + from, len - from);
}

void hc_text_position(const char *text, size_t offset, int *line, int *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            (*line)++;
            *column = 1;
        } else if (!hc_utf8_continues(text[i])) {
            (*column)++;
        }
    }
}
