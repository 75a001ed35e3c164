#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hc_buf_finish(struct hc_buf *b)
{
    free(b->data);
    *b = (struct hc_buf){0};
}

void hc_buf_clear(struct hc_buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

static int reserve(struct hc_buf *b, size_t more)
{
    if (b->failed)
        return -1;
    if (more > (size_t)-1 / 4 - b->len || (b->max && b->len + more > b->max)) {
        b->failed = true;
        return -1;
    }
    size_t need = b->len + more + 1;
    if (b->data && need <= b->cap)
        return 0;
    size_t cap = b->cap ? b->cap : 256;
    while (cap < need)
        cap *= 2;
    char *data = realloc(b->data, cap);
    if (!data) {
        b->failed = true;
        return -1;
    }
    b->data = data;
    b->cap = cap;
    return 0;
}

int hc_buf_add(struct hc_buf *b, const void *data, size_t len)
{
    if (reserve(b, len) < 0)
        return -1;
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
    return 0;
}

int hc_buf_str(struct hc_buf *b, const char *s)
{
    return hc_buf_add(b, s, strlen(s));
}

int hc_buf_fmt(struct hc_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    int rc = n < 0 ? -1 : reserve(b, (size_t)n);
    if (rc == 0) {
        (void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    } else {
        b->failed = true;
    }
    va_end(again);
    return rc;
}

char *hc_buf_take(struct hc_buf *b)
{
    if (!b->failed && !b->data)
        (void)hc_buf_add(b, "", 0);
    char *data = b->failed ? NULL : b->data;
    if (!data)
        free(b->data);
    *b = (struct hc_buf){0};
    return data;
}
