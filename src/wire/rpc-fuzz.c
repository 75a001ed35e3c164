/* Any stream: its lines are the same in whatever pieces it comes, and each line is a message or is refused
 * with a reason. */
#include "wire/rpc.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINE 512

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_message(const char *text, size_t len)
{
    struct hc_rpc m;
    struct hc_error err = {0};
    int code = 0;
    int rc = hc_rpc_parse(&m, text, len, &code, &err);
    require(rc == 0 || (code < 0 && err.text[0] && err.exit));
    require(m.id[0] && memchr(m.id, '\0', sizeof m.id) && !strpbrk(m.id, "\n\r"));
    if (rc == 0 && m.kind == HC_RPC_REQUEST)
        require(m.method && strcmp(m.id, "null") != 0);
    hc_rpc_finish(&m);
}

/* A sum of what the lines were: equal for equal lines. */
static size_t read_lines(const char *data, size_t size, size_t piece, bool check)
{
    struct hc_rpc_lines l = {.max = MAX_LINE};
    size_t sum = 0;
    for (size_t at = 0; at < size; at += piece) {
        const char *text;
        size_t len;
        hc_rpc_feed(&l, data + at, size - at < piece ? size - at : piece);
        for (enum hc_rpc_line got; (got = hc_rpc_next(&l, &text, &len)) != HC_RPC_MORE;) {
            require(got == HC_RPC_LINE || got == HC_RPC_LONG);
            sum = sum * 31 + (got == HC_RPC_LINE ? len : 1 << 20);
            if (check && got == HC_RPC_LINE)
                check_message(text, len);
        }
        require(l.buf.len - l.start <= MAX_LINE);
    }
    hc_rpc_lines_finish(&l);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *text = (const char *)data;
    size_t whole = read_lines(text, len, len + 1, true);
    require(whole == read_lines(text, len, 7, false));
    return 0;
}
