/* Any bytes as a handover: every part of an accepted handover lies within the bytes. */
#include "wire/handover.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_handover h;
    struct hc_error err;
    if (hc_handover_split(&h, data, len, &err) < 0)
        return 0;
    const struct hc_handover_filters *f = &h.filters;
    const uint8_t *text = (const uint8_t *)h.text, *first = f->first.data, *report = f->report.data,
                  *own = f->own.data;
    if (text < data || first != text + h.text_len || report != first + f->first.len ||
        own != report + f->report.len || own + f->own.len != data + len ||
        (f->first.len | f->report.len | f->own.len) % 8)
        abort();
    if (hc_handover_parse(&h, &err) < 0)
        return 0;
    if (!cJSON_IsObject(h.json.root))
        abort();
    hc_handover_finish(&h);
    return 0;
}
