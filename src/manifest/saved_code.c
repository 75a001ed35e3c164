#include "manifest/saved_code.h"

#include "base/buf.h"
#include "base/hash.h"
#include "job/job.h"

#include <string.h>

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
