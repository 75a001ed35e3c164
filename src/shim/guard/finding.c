#include "shim/guard/finding.h"

#include <stdlib.h>

void hc_findings_finish(struct hc_findings *f)
{
    free(f->items);
    hc_buf_finish(&f->columns);
    *f = (struct hc_findings){0};
}

bool hc_findings_refuse(const struct hc_findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (!f->items[i].warning)
            return true;
    return false;
}
