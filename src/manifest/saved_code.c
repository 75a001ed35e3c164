#include "manifest/saved_code.h"

#include "base/buf.h"
#include "base/hash.h"
#include "job/job.h"

#include <stdio.h>
#include <string.h>

int hc_saved_code_record(const char *path, char *out, size_t size)
{
    static const char *const endings[] = {HC_SAVED_COMMAND, HC_SAVED_PROGRAM};
    const size_t len = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t end = strlen(endings[i]);
        if (len <= end || strcmp(path + len - end, endings[i]) != 0)
            continue;
        const int n = snprintf(out, size, "%.*s.json", (int)(len - end), path);
        return n < 0 || (size_t)n >= size ? -1 : 0;
    }
    return -1;
}

const char *hc_saved_code_program(const char *file, size_t size, size_t *len)
{
    *len = size;
    if (strncmp(file, HC_CODE_HEADER, strlen(HC_CODE_HEADER)) != 0)
        return file;
    const char *marker = strstr(file, "\n" HC_CODE_MARKER);
    if (!marker)
        return file;
    const char *code = marker + 1 + strlen(HC_CODE_MARKER);
    *len = size - (size_t)(code - file);
    return code;
}

bool hc_saved_code_is(const char *code, size_t len, const char *sha256)
{
    char hex[HC_SHA256_HEX];
    hc_sha256_hex(code, len, hex);
    if (strcmp(hex, sha256) == 0)
        return true;
    hc_autobuf marked = {0};
    (void)hc_buf_str(&marked, HC_BOM);
    (void)hc_buf_add(&marked, code, len);
    if (marked.failed)
        return false;
    hc_sha256_hex(marked.data, marked.len, hex);
    return strcmp(hex, sha256) == 0;
}
