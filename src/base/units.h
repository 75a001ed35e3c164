/* units.h - sizes in bytes and durations in milliseconds, as people write them. */
#ifndef HC_BASE_UNITS_H
#define HC_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* "4096", "512K", "1.5M", "2G", "1T": powers of 1024, suffix in either case, optional "iB"/"B". 0 or -1. */
int hc_parse_size(const char *text, int64_t *bytes);

/* "60", "1.5" (seconds), "500ms", "10s", "2m", "1h". Milliseconds, rounded up so that a positive time is
 * never 0. 0 or -1. */
int hc_parse_duration(const char *text, int64_t *ms);

/* A plain decimal integer, optional sign, nothing else. 0 or -1. */
int hc_parse_int(const char *text, int64_t *value);

/* The shortest exact form: "512M", "1536", "60s", "1500ms". `out` needs 32 bytes; returns it. */
char *hc_format_size(int64_t bytes, char *out, size_t size);
char *hc_format_duration(int64_t ms, char *out, size_t size);

#endif
