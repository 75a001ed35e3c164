#include "cell/session/session_parts.h"

#include "cell/tools.h"

#include <sys/epoll.h>

int hc_session_make_tools(struct hc_session *s, struct hc_error *err)
{
    int client = s->given.tool_fd > 0 ? s->given.tool_fd : -1;
    if (s->policy.tools.count == 0)
        return 0;
    if (hc_toolbox_new(&s->launch.sup.tools, &s->policy.tools, client, s->clock_ahead_ns, &s->m->tools,
                       &s->m->denials, err) < 0)
        return -1;
    hc_toolbox_stop(s->launch.sup.tools); /* tools answer calls only during runs */
    return 0;
}

void hc_session_begin_tools(struct hc_session *s, struct hc_manifest *m)
{
    if (s->launch.sup.tools)
        hc_toolbox_renew(s->launch.sup.tools, &m->tools, &m->denials);
}

/* Drop answers that the cell has not read. The next run ignores answers that it read. */
void hc_session_end_tools(struct hc_session *s)
{
    struct hc_supervisor *sup = &s->launch.sup;
    if (!sup->tools)
        return;
    hc_toolbox_stop_and_wait(sup->tools);
    hc_toolbox_renew(sup->tools, &s->m->tools, &s->m->denials); /* the run's log is complete */
    hc_toolbox_stop(sup->tools);
    if (s->loop.answering && s->loop.control_open)
        hc_loop_rewatch(&s->loop, sup->control_fd, HC_ON_CONTROL, EPOLLIN);
    s->loop.answering = false;
}
