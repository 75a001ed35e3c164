/* Requests of a session's client about contexts. */
#include "cell/session/session_client.h"

#include <errno.h>
#include <string.h>

/* The result of a function of the session's, as a request returns it. */
static int result_of(struct hc_session_client *c, int rc, const struct hc_error *err)
{
    c->no_context = rc < 0 && err->sys == ENOENT;
    return rc == 0 ? 0 : hc_session_alive(c->session) ? 1 : -1;
}

int hc_client_enter(struct hc_session_client *c, const char *name, struct hc_error *err)
{
    const char *wanted = name ? name : HC_CONTEXT_MAIN;
    if (strcmp(wanted, hc_session_context(c->session)) == 0)
        return 0;
    if (!hc_session_branches(c->session))
        return result_of(c, hc_session_enter_context(c->session, wanted, err), err);
    (void)hc_fail_as(err, HC_EXIT_DATA, 0, "context: all branches are of one context, here '%.72s'",
                     hc_session_context(c->session));
    return 1;
}

/* The members of an object are among these names (NULL behind the last), and are strings. */
static bool has_only(const cJSON *node, const char *const names[], struct hc_error *err)
{
    const cJSON *member;
    cJSON_ArrayForEach(member, node)
    {
        size_t i = 0;
        while (names[i] && strcmp(names[i], member->string) != 0)
            i++;
        if (!names[i])
            (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s: unknown member '%.64s'", node->string,
                             member->string);
        else if (!cJSON_IsString(member))
            (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a string, got %s", member->string,
                             hc_json_kind(member));
        else
            continue;
        return false;
    }
    return true;
}

static const char *member_of(const cJSON *node, const char *name)
{
    return cJSON_GetStringValue(hc_json_member(node, name));
}

const char *hc_client_name_in_context(struct hc_session_client *c, const cJSON *node, int *rc,
                                      struct hc_error *err)
{
    static const char *const members[] = {"name", "context", NULL};
    const char *name = cJSON_IsObject(node) ? member_of(node, "name") : cJSON_GetStringValue(node);
    *rc = 1;
    if (cJSON_IsObject(node) && !has_only(node, members, err))
        return NULL;
    if (!name) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a string, got %s", node->string,
                         hc_json_kind(node));
        return NULL;
    }
    *rc = hc_client_enter(c, member_of(node, "context"), err);
    return *rc == 0 ? name : NULL;
}

/* Answer with the list of contexts, and with the one that the request was about; NULL: it is there no more.
 */
static void answer_contexts(struct hc_session_client *c, const char *request, const char *name)
{
    struct hc_session_context all[HC_SESSION_CONTEXTS];
    const size_t count = hc_session_contexts(c->session, all);
    cJSON *answer = hc_client_done(c, request);
    cJSON *list = cJSON_CreateArray();
    if (name)
        (void)cJSON_AddStringToObject(answer, "context", name);
    for (size_t i = 0; i < count; i++) {
        cJSON *one = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(one, "name", all[i].name);
        (void)cJSON_AddStringToObject(one, "workdir", all[i].workdir);
        (void)cJSON_AddItemToArray(list, one);
    }
    (void)cJSON_AddItemToObject(answer, "contexts", list);
    hc_client_answer(c, answer);
}

int hc_client_new_context(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                          struct hc_error *err)
{
    static const char *const members[] = {"name", "from", "workdir", NULL};
    (void)j;
    if (!cJSON_IsObject(node)) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected an object, got %s", node->string,
                         hc_json_kind(node));
        return 1;
    }
    if (!has_only(node, members, err))
        return 1;
    const int rc = result_of(c,
                             hc_session_new_context(c->session, member_of(node, "name"),
                                                    member_of(node, "from"), member_of(node, "workdir"), err),
                             err);
    if (rc == 0)
        answer_contexts(c, node->string, hc_session_context(c->session));
    return rc;
}

int hc_client_change_context(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                             struct hc_error *err)
{
    const char *name = cJSON_GetStringValue(node);
    const bool ends = strcmp(node->string, "end_context") == 0;
    (void)j;
    if (!name) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected a string, got %s", node->string,
                         hc_json_kind(node));
        return 1;
    }
    const int rc = result_of(c,
                             ends ? hc_session_end_context(c->session, name, err)
                                  : hc_session_restart_context(c->session, name, err),
                             err);
    if (rc == 0)
        answer_contexts(c, node->string, ends ? NULL : name);
    return rc;
}

int hc_client_contexts(struct hc_session_client *c, const struct hc_json *j, const cJSON *node,
                       struct hc_error *err)
{
    (void)j;
    if (!cJSON_IsTrue(node)) {
        (void)hc_fail_as(err, HC_EXIT_DATA, 0, "%s: expected true, got %s", node->string, hc_json_kind(node));
        return 1;
    }
    answer_contexts(c, node->string, NULL);
    return 0;
}
