#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name; /* the suffix, such as "K" or "ms" */
    double factor;    /* bytes, or milliseconds, of one unit */
};

static const struct unit size_units[] = {
    {"", 1},         {"B", 1},       {"K", 0x1p10},   {"KB", 0x1p10},  {"KiB", 0x1p10},
    {"M", 0x1p20},   {"MB", 0x1p20}, {"MiB", 0x1p20}, {"G", 0x1p30},   {"GB", 0x1p30},
    {"GiB", 0x1p30}, {"T", 0x1p40},  {"TB", 0x1p40},  {"TiB", 0x1p40}, {NULL, 0},
};

static const struct unit duration_units[] = {
    {"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"min", 60 * 1000}, {"h", 3600 * 1000}, {NULL, 0},
};

static int parse_unit(const char *text, const struct unit *units, int64_t *out)
{
    /* strtod would also take "inf", "nan", "0x10" and leading blanks. */
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return -1;
    size_t digits = strspn(text, "0123456789.");
    char number[64];
    if (digits >= sizeof number)
        return -1;
    memcpy(number, text, digits);
    number[digits] = '\0';
    char *end = NULL;
    double value = strtod(number, &end);
    if (*end != '\0')
        return -1;
    for (; units->name; units++) {
        if (strcasecmp(text + digits, units->name) != 0)
            continue;
        /* Round up, so that no positive time becomes 0; but 16.1 s is 16100 ms despite its inexact binary
         * fraction. */
        value *= units->factor;
        if (value != floor(value))
            value = ceil(value * (1 - 0x1p-50));
        if (!(value <= 0x1p62))
            return -1;
        *out = (int64_t)value;
        return 0;
    }
    return -1;
}

int hc_parse_size(const char *text, int64_t *bytes)
{
    return parse_unit(text, size_units, bytes);
}

int hc_parse_duration(const char *text, int64_t *ms)
{
    return parse_unit(text, duration_units, ms);
}

int hc_parse_int(const char *text, int64_t *value)
{
    if (!isdigit((unsigned char)text[0]) && !(text[0] == '-' && isdigit((unsigned char)text[1])))
        return -1;
    char *end = NULL;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || *end != '\0')
        return -1;
    *value = v;
    return 0;
}

char *hc_format_size(int64_t bytes, char *out, size_t size)
{
    static const char suffix[] = "\0KMGT";
    int i = 0;
    while (bytes != 0 && bytes % 1024 == 0 && i < 4) {
        bytes /= 1024;
        i++;
    }
    (void)snprintf(out, size, "%lld%.1s", (long long)bytes, suffix + i);
    return out;
}

char *hc_format_duration(int64_t ms, char *out, size_t size)
{
    if (ms % 1000 == 0)
        (void)snprintf(out, size, "%llds", (long long)(ms / 1000));
    else
        (void)snprintf(out, size, "%lldms", (long long)ms);
    return out;
}
