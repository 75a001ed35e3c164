#include "client/ask.h"

#include "client/job_result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ANSWER ((size_t)256 << 20) /* most bytes of an answer's body */

int hc_ask_find(struct hc_daemon_address *p, const char *named, struct hc_error *err)
{
    return named && *named ? hc_daemon_address_parse(p, named, err) : hc_daemon_address_find(p, err);
}

bool hc_ask_is_root(const struct hc_daemon_address *p)
{
    return geteuid() == 0 && *p->path && !p->token;
}

/* Turns an answer into JSON (`out`), or a problem document into an error. */
static int parse_answer(const struct hc_answer *a, struct hc_json *out, struct hc_error *err)
{
    char *manifest = NULL;
    const char *text = a->body.data ? a->body.data : "";
    *out = (struct hc_json){0};
    if (a->status >= 300) {
        (void)hc_job_result_problem(text, a->body.len, a->status, &manifest, err);
        free(manifest);
        return -1;
    }
    return a->body.len ? hc_json_parse(out, "answer", text, a->body.len, err) : 0;
}

int hc_ask(const struct hc_daemon_address *p, const char *method, const char *path, const char *body,
           struct hc_json *out, struct hc_error *err)
{
    const struct hc_exchange_head head = {
        .method = method, .path = path, .body = body, .body_len = body ? strlen(body) : 0};
    struct hc_answer answer = {.body.max = MAX_ANSWER};
    int rc = hc_exchange(p, &head, &answer, err);
    if (rc == 0)
        rc = parse_answer(&answer, out, err);
    hc_answer_finish(&answer);
    return rc;
}
