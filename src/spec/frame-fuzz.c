/* Packets from a cell (each behind two bytes of length): the inbox may refuse, but must keep its bounds and
 * its order. */
#include "spec/frame.h"

#include <stdlib.h>
#include <string.h>

#define MAX 1000

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check(const struct hc_inbox *in)
{
    require(in->body.len <= MAX);
    require(!in->running || in->ready);
    require(!in->reported || in->running);
    require(!(in->rejected && in->running));
    require(!in->awaits_copy || !in->awaits_resume);
}

static void feed_all(struct hc_inbox in, const uint8_t *data, size_t len)
{
    int copies = in.awaits_copy, resumed = in.awaits_resume;
    bool broken = false;
    while (len >= 2) {
        size_t size = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2;
        len -= 2;
        if (size > len)
            size = len;
        char *packet = malloc(size ? size : 1); /* its own, so that a byte too far is seen */
        struct hc_error err = {0};
        memcpy(packet, data, size);
        int type = hc_inbox_feed(&in, packet, size, &err);
        require(!broken || type < 0);
        require(type >= 0 || *err.text);
        copies -= type == HC_FRAME_KEPT; /* no more than were asked for */
        resumed -= type == HC_FRAME_RESUMED;
        require(copies >= 0 && resumed >= 0);
        broken = type < 0;
        check(&in);
        free(packet);
        data += size;
        len -= size;
    }
    hc_inbox_finish(&in);
}

/* As a job, and as what a session waits for: a run, a take-over. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    feed_all((struct hc_inbox){.max = MAX}, data, len);
    feed_all((struct hc_inbox){.max = MAX, .filtered = true, .ready = true, .awaits_copy = true}, data, len);
    feed_all((struct hc_inbox){.max = MAX, .filtered = true, .ready = true, .awaits_resume = true}, data,
             len);
    return 0;
}
