#include "base/utf8.h"

#include "base/plain.h"

#include <string.h>

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
    size_t from = 0; /* first byte that is not yet copied */
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
        unsigned char c = (unsigned char)text[i];
        if (c == '\n') {
            (*line)++;
            *column = 1;
        } else if ((c & 0xc0) != 0x80) {
            (*column)++;
        }
    }
}
