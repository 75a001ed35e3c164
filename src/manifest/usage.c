#include "manifest/usage.h"

const struct hc_usage_row hc_usage_rows[] = {
#define HC_USAGE_ROW(member, name, unit, kind, file, key, text)                                              \
    {name, HC_USAGE_##unit, HC_USAGE_##kind, file, key, text, offsetof(struct hc_job_usage, member)},
#include "manifest/usage.def"
};
const size_t hc_usage_row_count = sizeof hc_usage_rows / sizeof *hc_usage_rows;

int64_t hc_usage_get(const struct hc_job_usage *u, const struct hc_usage_row *row)
{
    return *(const int64_t *)(const void *)((const char *)u + row->at);
}

void hc_usage_set(struct hc_job_usage *u, const struct hc_usage_row *row, int64_t value)
{
    *(int64_t *)(void *)((char *)u + row->at) = value;
}

void hc_usage_forget(struct hc_job_usage *u)
{
    for (size_t i = 0; i < hc_usage_row_count; i++)
        hc_usage_set(u, &hc_usage_rows[i], -1);
}

void hc_usage_take_peaks(struct hc_job_usage *to, const struct hc_job_usage *from)
{
    for (size_t i = 0; i < hc_usage_row_count; i++)
        if (hc_usage_rows[i].kind == HC_USAGE_PEAK && hc_usage_rows[i].file)
            hc_usage_set(to, &hc_usage_rows[i], hc_usage_get(from, &hc_usage_rows[i]));
}
