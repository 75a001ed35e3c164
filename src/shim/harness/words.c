#include "shim/harness/words.h"

#include <string.h>

#define HINTS_MAX 32 /* distinct hints with holes in them */

static const struct hc_interface *interface; /* fills the hints; NULL: none was chosen */

static struct {
    const char *hint; /* text as a caller passed it; compared by its address */
    char *filled;     /* owned; never freed */
} hints[HINTS_MAX];

void hc_words_choose(const char *interface_name)
{
    const struct hc_interface *found = hc_interface_find(interface_name);
    if (!found || found == hc_words_interface())
        return;
    interface = found;
    memset(hints, 0, sizeof hints); /* a hint that was handed out stays valid */
}

const struct hc_interface *hc_words_interface(void)
{
    return interface ? interface : hc_interface_find(hc_interface_names[0]);
}

const char *hc_words_fill(const char *hint)
{
    if (!hint || !strchr(hint, '{'))
        return hint;
    for (size_t i = 0; i < HINTS_MAX; i++) {
        if (hints[i].hint == hint)
            return hints[i].filled;
        if (hints[i].hint)
            continue;
        hc_autobuf text = {0};
        hc_interface_fill(hc_words_interface(), hint, &text);
        if (text.failed)
            return NULL;
        hints[i].hint = hint;
        return hints[i].filled = hc_buf_take(&text);
    }
    return NULL;
}
