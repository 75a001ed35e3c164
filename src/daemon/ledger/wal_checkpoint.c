#include "daemon/ledger/wal_checkpoint.h"

#include "base/log.h"
#include "daemon/ledger/ledger.h"
#include "daemon/process/rights.h"
#include "daemon/process/sandbox.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#define TICK_MS 1000 /* ms between two checkpoints */

/* Was the log written to since the last call? */
static bool has_news(struct timespec *seen)
{
    struct stat st;
    if (stat(HC_LEDGER_FILE "-wal", &st) < 0)
        return false;
    bool news = st.st_mtim.tv_sec != seen->tv_sec || st.st_mtim.tv_nsec != seen->tv_nsec;
    *seen = st.st_mtim;
    return news;
}

static int checkpoint_until_failure(struct hc_error *err)
{
    struct hc_ledger *ledger;
    struct timespec seen = {0};
    if (hc_ledger_open(&ledger, HC_LEDGER_FILE, HC_LEDGER_CHECKPOINT, err) < 0)
        return -1;
    int rc = hc_drop_rights(err); /* the process has opened all files that it needs */
    if (rc == 0)
        rc = hc_sandbox_enter(-1, err);
    while (rc == 0) {
        if (has_news(&seen) && (rc = hc_ledger_checkpoint(ledger, err)) < 0)
            break; /* an end this early tells the manager that the process cannot do its work */
        (void)poll(NULL, 0, TICK_MS);
    }
    hc_ledger_close(ledger);
    return -1;
}

void hc_wal_checkpoint_main(void)
{
    struct hc_error err = {0};
    if (checkpoint_until_failure(&err) < 0)
        hc_warn("%s", err.text);
    exit(EXIT_FAILURE);
}

void hc_wal_checkpoint_last(void)
{
    struct hc_ledger *ledger;
    struct hc_error err = {0};
    if (hc_ledger_open(&ledger, HC_LEDGER_FILE, HC_LEDGER_WRITE, &err) < 0) {
        hc_warn("%s", err.text);
        exit(EXIT_FAILURE);
    }
    hc_ledger_close(ledger);
    exit(EXIT_SUCCESS);
}
