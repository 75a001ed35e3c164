/* Any bytes as a handover: what is accepted lies within them. */
#include "spec/handover.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_handover h;
    struct hc_error err;
    if (hc_handover_split(&h, data, len, &err) < 0)
        return 0;
    const uint8_t *text = (const uint8_t *)h.text, *report = h.report.data, *own = h.own.data;
    if (text < data || report != text + h.text_len || own != report + h.report.len ||
        own + h.own.len != data + len || h.report.len % 8 || h.own.len % 8)
        abort();
    if (hc_handover_parse(&h, &err) < 0)
        return 0;
    if (!cJSON_IsObject(h.json.root))
        abort();
    hc_handover_finish(&h);
    return 0;
}
