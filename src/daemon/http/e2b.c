/* E2B's dialect: whom a request is from and to, and the form of its answers. */
#include "daemon/http/e2b.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "json/json.h"
#include "wire/e2b.h"
#include "wire/e2b_envd.h"

#include <ctype.h>
#include <microhttpd.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 32768 /* most bytes of a stream that libmicrohttpd asks for at once */

/* ---- the sandbox ---- */

void hc_e2b_token(const struct hc_http *h, const char *id, char out[HC_SHA256_HEX])
{
    hc_hmac_hex(h->sandbox_key, sizeof h->sandbox_key, id, strlen(id), out);
}

/* Take the sandbox's ID from the host's name, PORT-ID.DOMAIN: names of hosts are in lower case, and the date
 * at the beginning of an ID has letters in upper case. */
static void take_host(const char *host, char id[HC_JOB_ID])
{
    const char *dash = host + strspn(host, "0123456789");
    const size_t len = *dash == '-' && dash > host ? strcspn(dash + 1, ".:") : 0;
    const char *end = len ? memchr(dash + 1, '-', len) : NULL;
    if (!end || len >= HC_JOB_ID)
        return;
    memcpy(id, dash + 1, len);
    id[len] = '\0';
    for (size_t i = 0; i < (size_t)(end - dash - 1); i++)
        id[i] = (char)toupper((unsigned char)id[i]);
}

static void take_sandbox(struct hc_exchange *x)
{
    const char *id = hc_exchange_header(x, "E2b-Sandbox-Id"), *host = hc_exchange_header(x, "Host");
    x->sandbox[0] = '\0';
    if (id)
        (void)snprintf(x->sandbox, sizeof x->sandbox, "%s", id);
    else if (host)
        take_host(host, x->sandbox);
}

/* The token is compared before the sandbox is looked for: who has none does not learn which there are. */
struct hc_tenant *hc_e2b_tenant(struct hc_exchange *x, struct hc_problem *why)
{
    char right[HC_SHA256_HEX];
    const char *given = hc_exchange_header(x, "X-Access-Token");
    if (!given)
        given = hc_exchange_header(x, "E2B-Traffic-Access-Token");
    take_sandbox(x);
    hc_e2b_token(x->http, x->sandbox, right);
    const bool good = given && hc_digest_equal(given, right);
    sodium_memzero(right, sizeof right);
    if (!good) {
        hc_problem_set(why, HC_PROBLEM_UNKNOWN_USER,
                       "the sandbox's own token is needed (X-Access-Token), which the answer that created it "
                       "has, and its ID (E2b-Sandbox-Id)");
        return NULL;
    }
    const struct hc_front_session *s = hc_front_session_find_any(x->http->sessions, x->sandbox);
    if (s)
        return s->tenant;
    hc_problem_set(why, HC_PROBLEM_GONE, "The sandbox was not found");
    return NULL;
}

struct hc_front_session *hc_e2b_sandbox(struct hc_exchange *x, const struct hc_tenant *t, int *rc)
{
    struct hc_front_session *s = hc_front_session_find(x->http->sessions, t, x->sandbox);
    if (s && s->state != HC_FRONT_SESSION_ENDED && !s->paused)
        return s;
    *rc = s && s->state != HC_FRONT_SESSION_ENDED
              ? hc_reply_fail(x, HC_PROBLEM_GONE, "The sandbox is paused: connect to it to resume it")
              : hc_reply_fail(x, HC_PROBLEM_GONE, "The sandbox was not found");
    return NULL;
}

/* ---- problems ---- */

/* HTTP status in E2B's API, and the code of Connect. */
static int status_of(const struct hc_exchange *x, const struct hc_problem *p)
{
    const int status = hc_problem_status(p);
    if (p->kind == HC_PROBLEM_GONE)
        return x->route->dialect == HC_DIALECT_API ? 404 : 502;
    if (p->kind == HC_PROBLEM_HOST) /* clients would try again after a 503 */
        return 500;
    return status == 422 ? 400 : status;
}

static const char *code_of(int status)
{
    static const struct {
        int status;
        const char *code;
    } codes[] = {
        {400, "invalid_argument"},   {401, "unauthenticated"},  {403, "permission_denied"},
        {404, "not_found"},          {405, "unimplemented"},    {409, "failed_precondition"},
        {413, "resource_exhausted"}, {415, "invalid_argument"}, {429, "resource_exhausted"},
        {431, "resource_exhausted"}, {501, "unimplemented"},    {502, "unavailable"},
        {503, "unavailable"},        {504, "unavailable"},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].status == status)
            return codes[i].code;
    return "internal";
}

/* Answer {"code", "message"}; in a stream of Connect as the message that ends it. */
static int reply_error(struct hc_exchange *x, int status, const char *message)
{
    hc_autobuf out = {0};
    if (x->route->dialect < HC_DIALECT_UNARY) {
        hc_e2b_error(status, message, &out);
        return hc_reply_json(x, status, &out);
    }
    return hc_e2b_reply_code(x, status, code_of(status), message);
}

int hc_e2b_reply_code(struct hc_exchange *x, int status, const char *code, const char *message)
{
    hc_autobuf out = {0}, whole = {0};
    (void)hc_buf_fmt(&out, "{\"code\": \"%s\", \"message\": ", code);
    hc_json_quote(&out, message, hc_utf8_whole(message));
    (void)hc_buf_str(&out, "}");
    if (x->route->dialect == HC_DIALECT_UNARY)
        return hc_reply_json(x, status, &out);
    hc_autobuf end = {0};
    (void)hc_buf_fmt(&end, "{\"error\": %s}", out.data ? out.data : "{}");
    hc_e2b_envelope(HC_E2B_LAST, end.data, end.len, &whole);
    return hc_reply_text(x, 200, "application/connect+json", &whole);
}

int hc_e2b_reply_problem(struct hc_exchange *x, const struct hc_problem *p)
{
    return reply_error(x, status_of(x, p), p->detail);
}

int hc_e2b_reply_untranslated(struct hc_exchange *x, const struct hc_error *err)
{
    if (err->exit == HC_EXIT_UNAVAILABLE)
        return reply_error(x, 404, err->text);
    return hc_reply_fail(x, err->exit == HC_EXIT_DATA ? HC_PROBLEM_REQUEST : HC_PROBLEM_INTERNAL, "%s",
                         err->text);
}

int hc_e2b_reply_missing(struct hc_exchange *x, const char *what)
{
    char text[200];
    (void)snprintf(text, sizeof text, "%s: not there, see DIALECTS in hotcelld(8)", what);
    return reply_error(x, 501, text);
}

int hc_e2b_reply_stream(struct hc_exchange *x, const char *type,
                        ssize_t (*read)(void *cls, uint64_t at, char *out, size_t max))
{
    struct MHD_Response *r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read, x, NULL);
    if (r)
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    return hc_reply(x, 200, r);
}

/* ---- asking ---- */

/* Have those who watch a sandbox wait for the end of what it does now. */
static void wake_watchers(const struct hc_http *h)
{
    for (struct hc_connection *c = h->connections; c; c = c->next)
        if (c->exchange && c->exchange->beats)
            c->exchange->waiter.wake(&c->exchange->waiter);
}

int hc_e2b_try(struct hc_exchange *x, struct hc_front_session *s, const char *name, const struct hc_buf *line,
               bool stream, struct hc_problem *why)
{
    if (hc_wait_for_session(x, s))
        return 0;
    if (line->failed)
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
    else
        x->task = hc_front_session_ask(s, name, line, stream, why);
    if (x->task && !x->beats)
        wake_watchers(x->http);
    return x->task ? 1 : -1;
}

bool hc_e2b_ask(struct hc_exchange *x, struct hc_front_session *s, const char *name,
                const struct hc_buf *line, bool stream, int *rc)
{
    struct hc_problem why;
    const int tried = hc_e2b_try(x, s, name, line, stream, &why);
    *rc = tried < 0 ? hc_reply_problem(x, &why, NULL) : MHD_YES;
    return tried > 0;
}

void hc_e2b_drop_task(struct hc_exchange *x)
{
    hc_task_unwait(&x->waiter);
    hc_task_unref(x->task);
    x->task = NULL;
}
