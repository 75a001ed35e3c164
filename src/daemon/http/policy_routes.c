/* Policies over HTTP, and the card that tells the author of a program what a policy allows. */
#include "daemon/http/handlers.h"

#include "cell/card.h"
#include "cell/policies.h"
#include "daemon/http/request.h"
#include "daemon/queue/maxima.h"
#include "wire/events.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

/* Loads a policy. A policy that the tenant may not use gets the same answer as one that does not exist. So
 * does a path: no request makes the daemon open a file of the host, wait for one, or tell whether one exists.
 * 0: loaded; else `answer` has the value that the handler has to return. */
static int load_policy(struct hc_exchange *x, const struct hc_tenant *t, const char *name,
                       struct hc_policy *p, int *answer)
{
    struct hc_error err;
    struct hc_problem why;
    if (!*name || strlen(name) >= HC_TENANT_NAME || strchr(name, '/') || !hc_tenant_may_use(t, name)) {
        *answer = hc_reply_fail(x, HC_PROBLEM_NOT_FOUND, "there is no such policy");
        return -1;
    }
    if (hc_policy_load(p, name, hc_policies_read, NULL, &err) == 0) {
        hc_policy_lower(p, &t->quota.max);
        return 0;
    }
    hc_set_no_policy(&why, HC_PROBLEM_NOT_FOUND, t, name, &err);
    *answer = hc_reply_problem(x, &why, NULL);
    return -1;
}

int hc_list_policies(struct hc_exchange *x, struct hc_tenant *t)
{
    char **names;
    struct hc_error err;
    hc_autobuf out = {0};
    int count = 0;
    if (hc_policies_list(&names, &err) < 0)
        return hc_reply_fail(x, HC_PROBLEM_INTERNAL, "%s", err.text);
    (void)hc_buf_str(&out, "{\"policies\": [");
    for (char **name = names; *name; name++) {
        if (strlen(*name) >= HC_TENANT_NAME || !hc_tenant_may_use(t, *name))
            continue;
        (void)hc_buf_str(&out, count++ ? ", " : "");
        hc_json_quote(&out, *name, strlen(*name));
    }
    (void)hc_buf_str(&out, "]}\n");
    hc_policies_free(names);
    return hc_reply_json(x, 200, &out);
}

/* Removes the members that concern only the host: commands of tools, and patterns for redaction. */
static void drop_host_members(cJSON *policy)
{
    cJSON *tool;
    cJSON_ArrayForEach(tool, cJSON_GetObjectItemCaseSensitive(policy, "tools"))
    {
        cJSON_DeleteItemFromObjectCaseSensitive(tool, "command");
    }
    cJSON_DeleteItemFromObjectCaseSensitive(policy, "redact");
}

int hc_get_policy(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_policy p;
    hc_autobuf out = {0};
    int answer;
    if (load_policy(x, t, x->id, &p, &answer) < 0)
        return answer;
    cJSON *json = hc_policy_to_json(&p);
    hc_policy_finish(&p);
    drop_host_members(json);
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    (void)hc_buf_str(&out, text ? text : "");
    cJSON_free(text);
    return text ? hc_reply_json(x, 200, &out) : MHD_NO;
}

static int print_card(const struct hc_policy *p, bool json, struct hc_buf *out, struct hc_error *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    if (!stream)
        return hc_fail(err, ENOMEM, "make the card");
    int rc = hc_card_print(p, json, stream, err);
    if (fclose(stream) != 0 && rc == 0)
        rc = hc_fail(err, ENOMEM, "make the card");
    (void)hc_buf_add(out, text ? text : "", len);
    free(text);
    return rc;
}

int hc_get_card(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_policy p;
    struct hc_error err;
    hc_autobuf out = {0};
    const char *name = MHD_lookup_connection_value(x->mhd, MHD_GET_ARGUMENT_KIND, "policy");
    bool text = hc_has_word(hc_exchange_header(x, "Accept"), "text/plain");
    int answer;
    if (load_policy(x, t, name ? name : hc_tenant_policy(t), &p, &answer) < 0)
        return answer;
    int rc = print_card(&p, !text, &out, &err);
    hc_policy_finish(&p);
    if (rc < 0)
        return hc_reply_fail(x, err.exit == HC_EXIT_UNAVAILABLE ? HC_PROBLEM_HOST : HC_PROBLEM_INTERNAL, "%s",
                             err.text);
    return hc_reply_text(x, 200, text ? "text/plain; charset=utf-8" : "application/json", &out);
}
