#include "spec/json.h"

/* Length of the well-formed sequence at `p`, or minus the length of the maximal malformed part of one
 * (Unicode standard, table 3-7). */
static int sequence(const unsigned char *p, size_t left)
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

bool hc_utf8_valid(const char *text, size_t len, size_t *bad)
{
    for (size_t at = 0; at < len;) {
        int n = sequence((const unsigned char *)text + at, len - at);
        if (n < 0) {
            if (bad)
                *bad = at;
            return false;
        }
        at += (size_t)n;
    }
    return true;
}

int hc_utf8_scrub(struct hc_buf *out, const char *text, size_t len)
{
    size_t from = 0; /* first byte that is not yet copied */
    for (size_t at = 0; at < len;) {
        int n = sequence((const unsigned char *)text + at, len - at);
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
        unsigned char c = (unsigned char)text[i];
        if (c == '\n') {
            (*line)++;
            *column = 1;
        } else if ((c & 0xc0) != 0x80) {
            (*column)++;
        }
    }
}
