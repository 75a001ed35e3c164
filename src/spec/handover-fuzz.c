/* Any bytes as a handover: what is accepted lies within them. */
#include "spec/handover.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_handover h;
    struct hc_error err;
    if (hc_handover_parse(&h, data, len, &err) < 0)
        return 0;
    const uint8_t *bpf = h.bpf;
    if (bpf < data || bpf + h.bpf_len != data + len || h.bpf_len % 8 || !cJSON_IsObject(h.json.root))
        abort();
    hc_handover_finish(&h);
    return 0;
}
