/* Packets from a cell (each behind two bytes of length): the inbox may refuse, but must keep its bounds and
 * its order. */
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

#define MAX 1000

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool has(const struct hc_inbox *in, enum hc_frame_type type)
{
    return hc_inbox_has(in, type);
}

static void check(const struct hc_inbox *in)
{
    require(in->body.len <= MAX);
    require((unsigned)in->state < HC_TALKS);
    require(!has(in, HC_FRAME_REPORT) || has(in, HC_FRAME_RUN));
    require(!has(in, HC_FRAME_REJECTED) || !has(in, HC_FRAME_RUN));
    require(!has(in, HC_FRAME_PASSED) || !has(in, HC_FRAME_RUN));
}

static void feed_all(struct hc_inbox in, const uint8_t *data, size_t len)
{
    int copies = in.asked == HC_ASKED_COPY, resumed = in.asked == HC_ASKED_RESUME;
    bool again = in.state == HC_TALK_AGAIN;
    bool broken = false;
    while (len >= 2) {
        size_t size = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2;
        len -= 2;
        if (size > len)
            size = len;
        char *packet =
            malloc(size ? size : 1); /* a block of its own, so that the sanitizer sees a read behind it */
        struct hc_error err = {0};
        memcpy(packet, data, size);
        int type = hc_inbox_feed(&in, packet, size, &err);
        require(!broken || type < 0);
        require(type >= 0 || *err.text);
        copies -= type == HC_FRAME_KEPT || type == HC_FRAME_UNKEPT; /* no more than were asked for */
        resumed -= type == HC_FRAME_RESUMED;
        require(copies >= 0 && resumed >= 0);
        require(!again || type <= 0 || hc_frame_sender((enum hc_frame_type)type) == HC_FROM_GUEST);
        broken = type < 0;
        check(&in);
        free(packet);
        data += size;
        len -= size;
    }
    hc_inbox_finish(&in);
}

/* The packets as those of a job, and as answers to all that a session has been asked. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    feed_all((struct hc_inbox){.max = MAX}, data, len);
    for (int talk = HC_TALK_READY; talk <= HC_TALK_IDLE; talk++)
        feed_all((struct hc_inbox){.max = MAX,
                                   .state = (enum hc_talk_state)talk,
                                   .asked = talk == HC_TALK_IDLE ? HC_ASKED_RESUME : HC_ASKED_COPY},
                 data, len);
    return 0;
}
