/* A response in two pieces, cut where the first byte says: the result is the same as for one piece. */
#include "wire/answer.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static int feed(struct hc_answer *a, const char *data, size_t len)
{
    struct hc_error err;
    return hc_answer_feed(a, data, len, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return 0;
    const char *data = (const char *)bytes + 1;
    size_t cut = bytes[0] < len - 1 ? bytes[0] : len - 1;
    struct hc_answer whole = {.body.max = 100000}, parts = {.body.max = 100000};
    int one = feed(&whole, data, len - 1);
    int two = feed(&parts, data, cut) < 0 || feed(&parts, data + cut, len - 1 - cut) < 0 ? -1 : 0;
    require(one == two);
    if (one == 0) {
        require(whole.status == parts.status && whole.state == parts.state);
        require(whole.body.len == parts.body.len);
        require(!whole.body.len || memcmp(whole.body.data, parts.body.data, whole.body.len) == 0);
        require(strcmp(whole.location, parts.location) == 0 && strcmp(whole.type, parts.type) == 0);
    }
    hc_answer_finish(&whole);
    hc_answer_finish(&parts);
    return 0;
}
