#include "client/listed.h"

#include <limits.h>
#include <string.h>

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hc_listed_unescape(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text && n + 1 < size; n++) {
        bool hex = text[0] == '\\' && text[1] == 'x' && hex_value(text[2]) >= 0 && hex_value(text[3]) >= 0;
        if (hex) {
            out[n] = (char)(hex_value(text[2]) << 4 | hex_value(text[3]));
            text += 4;
        } else {
            text += text[0] == '\\' && text[1] == '\\';
            out[n] = *text++;
        }
        if (!out[n])
            return -1;
    }
    out[n] = '\0';
    return *text ? -1 : 0;
}

bool hc_listed_lies_below(const char *path)
{
    const char *end;
    do {
        end = strchrnul(path, '/');
        size_t n = (size_t)(end - path);
        bool dots = (n == 1 && path[0] == '.') || (n == 2 && path[0] == '.' && path[1] == '.');
        if (n == 0 || n > NAME_MAX || dots)
            return false;
        path = end + 1;
    } while (*end);
    return true;
}

void hc_listed_encode(struct hc_buf *out, const char *path)
{
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/", c);
        (void)(plain ? hc_buf_add(out, path, 1) : hc_buf_fmt(out, "%%%02X", c));
    }
}
