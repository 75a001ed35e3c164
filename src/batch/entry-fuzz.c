/* Parse any bytes as a line of a journal: it must be refused, or parse to the same again once printed. */
#include "batch/entry.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_entry e, again;
    struct hc_error err = {0};
    const char *text = (const char *)data;
    if (hc_entry_parse(&e, "input", text, len, &err) < 0) {
        require(err.exit == HC_EXIT_DATA && *err.text);
        return 0;
    }
    require(e.kind < HC_ENTRY_KINDS && e.result <= len && e.result_len <= len - e.result);
    hc_autobuf printed = {0};
    hc_entry_print(&printed, &e, e.result_len ? text + e.result : NULL, e.result_len);
    require(!printed.failed && hc_entry_parse(&again, "again", printed.data, printed.len, &err) == 0);
    require(again.kind == e.kind && again.line == e.line && again.attempt == e.attempt &&
            again.result_len == e.result_len && strcmp(again.job_id, e.job_id) == 0 &&
            strcmp(again.status, e.status) == 0);
    return 0;
}
