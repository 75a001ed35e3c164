#include "wire/e2b_envd.h"

void hc_e2b_envelope(unsigned char flags, const char *json, size_t len, struct hc_buf *out)
{
    const unsigned char head[] = {flags, (unsigned char)(len >> 24), (unsigned char)(len >> 16),
                                  (unsigned char)(len >> 8), (unsigned char)len};
    (void)hc_buf_add(out, head, sizeof head);
    (void)hc_buf_add(out, json, len);
}
