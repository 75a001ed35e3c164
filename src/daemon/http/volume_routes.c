/* Volumes over HTTP: what a tenant has, and removal. Jobs and sessions make them. */
#include "daemon/http/handlers.h"

#include "daemon/queue/volumes.h"

/* A list of volumes that is being printed. */
struct listing {
    struct hc_buf *out; /* borrowed */
    const char *comma;
};

static int print_volume(void *ctx, const char *name, const struct hc_volume_size *size, int64_t changed)
{
    struct listing *l = ctx;
    (void)hc_buf_fmt(l->out, "%s{\"name\": \"%s\", \"bytes\": %lld, \"files\": %lld", l->comma, name,
                     (long long)size->bytes, (long long)size->files);
    hc_task_print_time(l->out, "changed", changed);
    l->comma = ", ";
    return hc_buf_str(l->out, "}");
}

int hc_list_volumes(struct hc_exchange *x, struct hc_tenant *t)
{
    hc_autobuf out = {0};
    struct listing l = {&out, ""};
    (void)hc_buf_str(&out, "{\"volumes\": [");
    if (hc_volume_list(x->dispatch->volumes_fd, t->name, print_volume, &l) < 0)
        return hc_reply_fail(x, HC_PROBLEM_INTERNAL, "the tenant's volumes cannot be listed");
    (void)hc_buf_str(&out, "]}\n");
    return hc_reply_json(x, 200, &out);
}

int hc_delete_volume(struct hc_exchange *x, struct hc_tenant *t)
{
    struct hc_problem why = {0};
    hc_autobuf nothing = {0};
    if (!x->task)
        x->task = hc_volume_remove_later(x->dispatch, t, x->id, &why);
    if (!x->task)
        return hc_reply_problem(x, &why, NULL);
    if (!hc_task_ended(x->task))
        return hc_exchange_suspend(x);
    return x->task->state == HC_TASK_FAILED ? hc_reply_problem(x, &x->task->problem, NULL)
                                            : hc_reply_json(x, 204, &nothing);
}
