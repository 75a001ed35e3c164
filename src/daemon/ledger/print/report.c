#include "daemon/ledger/print/report.h"

#include "base/units.h"

#include <string.h>
#include <time.h>

const char *hc_report_time(int64_t ms, char out[32])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    if (ms <= 0 || !gmtime_r(&seconds, &tm))
        return "-";
    (void)strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return out;
}

int hc_report_since(const char *text, int64_t now, int64_t *since)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%d"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {0};
        const char *end = strptime(text, forms[i], &tm);
        if (!end || *end)
            continue;
        *since = (int64_t)timegm(&tm) * 1000;
        return 0;
    }
    int64_t ago;
    if (hc_parse_duration(text, &ago) < 0)
        return -1;
    *since = ago < now ? now - ago : 0;
    return 0;
}

int hc_report_row(cJSON *row, bool *first, struct hc_error *err)
{
    char *text = row ? cJSON_PrintUnformatted(row) : NULL;
    cJSON_Delete(row);
    if (!text)
        return hc_fail(err, 0, "out of memory");
    (void)printf("%s%s", *first ? "" : ",\n", text);
    *first = false;
    cJSON_free(text);
    return 0;
}
