#include "daemon/sessions/commands.h"

#include "base/clock.h"
#include "daemon/queue/maxima.h"
#include "daemon/sessions/session_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_UNSENT ((size_t)1 << 20) /* bytes of requests that the process has not taken */

/* ---- the list ---- */

struct hc_front_command *hc_front_command_find(const struct hc_front_session *s, const char *id)
{
    struct hc_front_command *c = s->commands;
    while (c && strcmp(c->id, id) != 0)
        c = c->next;
    return c;
}

void hc_front_command_forget(struct hc_front_session *s, struct hc_front_command *c)
{
    struct hc_front_command **at = &s->commands;
    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
    hc_task_unref(c->task);
    free(c->argv);
    free(c->exited);
    free(c);
}

void hc_front_commands_forget(struct hc_front_session *s)
{
    while (s->commands)
        hc_front_command_forget(s, s->commands);
}

/* Forgets the oldest commands that have ended, down to HC_FRONT_COMMANDS_ENDED. */
static void forget_old(struct hc_front_session *s)
{
    size_t ended = 0;
    for (const struct hc_front_command *c = s->commands; c; c = c->next)
        ended += c->exited != NULL;
    for (struct hc_front_command *c = s->commands, *next; c && ended > HC_FRONT_COMMANDS_ENDED; c = next) {
        next = c->next;
        if (!c->exited)
            continue;
        hc_front_command_forget(s, c);
        ended--;
    }
}

static struct hc_front_command *add_command(struct hc_front_session *s, const cJSON *argv)
{
    struct hc_front_command *c = calloc(1, sizeof *c), **last = &s->commands;
    struct hc_task *task = c ? hc_front_session_task(s, &c->task) : NULL;
    char *text = task ? cJSON_PrintUnformatted(argv) : NULL;
    c = text ? c : (free(c), NULL);
    if (!c) {
        hc_task_unref(task); /* the reference that the place held, which is gone */
        hc_task_unref(task);
        return NULL;
    }
    hc_task_unref(task); /* c->task has one, too */
    c->task->of_command = true;
    c->argv = text;
    (void)snprintf(c->id, sizeof c->id, "c%lld", (long long)++s->command_numbers);
    while (*last)
        last = &(*last)->next;
    *last = c;
    return c;
}

void hc_front_command_print(const struct hc_front_command *c, struct hc_buf *out)
{
    (void)hc_buf_fmt(out, "{\"command_id\": \"%s\", \"state\": \"%s\", \"pid\": %lld, \"command\": %s", c->id,
                     c->exited ? "ended" : "running", (long long)c->pid, c->argv);
    hc_task_print_time(out, "started", c->started);
    (void)hc_buf_fmt(out, ", \"exited\": %s}", c->exited ? c->exited : "null");
}

void hc_front_commands_print(const struct hc_front_session *s, struct hc_buf *out)
{
    const char *comma = "";
    (void)hc_buf_str(out, "{\"commands\": [");
    for (const struct hc_front_command *c = s->commands; c; c = c->next) {
        if (c->start)
            continue;
        (void)hc_buf_str(out, comma);
        hc_front_command_print(c, out);
        comma = ", ";
    }
    (void)hc_buf_str(out, "]}\n");
}

/* ---- requests ---- */

/* Whether the session's process takes a request now. */
static bool takes(const struct hc_front_session *s, size_t len, struct hc_problem *why)
{
    if (s->state == HC_FRONT_SESSION_ENDED)
        *why = s->problem;
    else if (s->closing)
        hc_problem_set(why, HC_PROBLEM_GONE, "the session is about to end");
    else if (s->state == HC_FRONT_SESSION_STARTING)
        hc_problem_set(why, HC_PROBLEM_IN_USE, "the session is starting");
    else if (s->out.len + len > MOST_UNSENT)
        hc_problem_set(why, HC_PROBLEM_IN_USE, "the session's process has not taken earlier requests");
    else
        return true;
    return false;
}

struct hc_task *hc_front_command_start(struct hc_front_session *s, const char *spec, size_t len,
                                       const cJSON *argv, int64_t most_ms, struct hc_problem *why)
{
    struct hc_refusal refusal = {.retry_ms = -1};
    hc_autobuf line = {0};
    if (!takes(s, len, why))
        return NULL;
    hc_front_session_meter(s);
    if (!hc_tenant_has_budget(s->tenant, hc_mono_ms(), &refusal)) {
        hc_set_refusal(why, &refusal);
        s->all->dispatch->counters.refused++;
        return NULL;
    }
    struct hc_front_command *c = add_command(s, argv);
    (void)hc_buf_str(&line, "{\"start\": ");
    hc_json_one_line(&line, spec, len);
    (void)hc_buf_fmt(&line, ", \"id\": \"%s\"}", c ? c->id : "");
    struct hc_task *task = c && !line.failed ? hc_front_session_task(s, &c->start) : NULL;
    if (task) {
        c->deadline = most_ms ? hc_mono_ms() + most_ms : 0;
        hc_front_session_send(s, line.data, line.len);
        return task;
    }
    hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
    if (c)
        hc_front_command_forget(s, c);
    return NULL;
}

/* {NAME: {"id": ..., members}}, to be freed by the caller; NULL: no memory. */
static char *make_request(const struct hc_front_command *c, const char *name, const cJSON *members)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *of = cJSON_AddObjectToObject(root, name);
    (void)cJSON_AddStringToObject(of, "id", c->id);
    const cJSON *item;
    cJSON_ArrayForEach(item, members)
    {
        cJSON *copy = cJSON_Duplicate(item, true);
        if (!copy || !cJSON_AddItemToObject(of, item->string, copy))
            cJSON_Delete(copy);
    }
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    return text;
}

/* Whether the command can be asked something now. */
static bool answers(const struct hc_front_command *c, struct hc_problem *why)
{
    const bool full = c->ask_count == HC_FRONT_COMMAND_ASKS;
    if (c->exited || c->start)
        hc_problem_set(why, HC_PROBLEM_IN_USE, "the command has %s", c->exited ? "ended" : "not started yet");
    else if (full)
        hc_problem_set(why, HC_PROBLEM_IN_USE, "earlier requests about the command have not been answered");
    return !c->exited && !c->start && !full;
}

struct hc_task *hc_front_command_ask(struct hc_front_session *s, struct hc_front_command *c, const char *name,
                                     const cJSON *members, struct hc_problem *why)
{
    char *line = make_request(c, name, members);
    hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
    const bool asks = line && takes(s, strlen(line), why) && answers(c, why);
    struct hc_task *task = asks ? hc_front_session_task(s, &c->asks[c->ask_count]) : NULL;
    if (task) {
        c->ask_count++;
        hc_front_session_send(s, line, strlen(line));
    }
    free(line);
    return task;
}

/* ---- answers and events ---- */

/* Answers the oldest request, with the command or a problem. */
static void answer_ask(struct hc_front_command *c, const struct hc_problem *problem)
{
    hc_autobuf out = {0};
    if (!c->ask_count)
        return;
    struct hc_task *task = c->asks[0];
    c->ask_count--;
    for (size_t i = 0; i < c->ask_count; i++)
        c->asks[i] = c->asks[i + 1];
    hc_front_command_print(c, &out);
    (void)hc_buf_str(&out, "\n");
    hc_front_task_answer(task, out.data ? out.data : "", out.len, problem);
}

static void answer_start(struct hc_front_command *c, const struct hc_problem *problem)
{
    hc_autobuf out = {0};
    struct hc_task *task = c->start;
    c->start = NULL;
    hc_front_command_print(c, &out);
    (void)hc_buf_str(&out, "\n");
    hc_front_task_answer(task, out.data ? out.data : "", out.len, problem);
}

static void end_task(struct hc_front_command *c)
{
    c->task->state = HC_TASK_DONE;
    hc_task_wake(c->task);
}

static void take_failure(struct hc_front_session *s, struct hc_front_command *c, const cJSON *json)
{
    struct hc_problem problem;
    const char *message = hc_json_text(json, "message");
    const bool request = c->start || strncmp(message, "command_", strlen("command_")) == 0;
    hc_problem_set(&problem,
                   request && !strstr(message, " commands go on") ? HC_PROBLEM_SPEC : HC_PROBLEM_IN_USE, "%s",
                   message);
    if (!c->start) {
        answer_ask(c, &problem);
        return;
    }
    answer_start(c, &problem);
    end_task(c);
    hc_front_command_forget(s, c);
}

/* The stream that an event is about; -1: none. */
static int stream_of(const char *event)
{
    return strcmp(event, "stdout") == 0 ? 0 : strcmp(event, "stderr") == 0 ? 1 : -1;
}

/* Output beyond HC_FRONT_COMMAND_EVENTS is left out: a client that does not read does not make the front
 * large. */
static void tell(struct hc_front_command *c, const char *event, const char *line, size_t len)
{
    struct hc_events *e = &c->task->events;
    const int stream = stream_of(event);
    if (stream >= 0 && c->cut[stream])
        return;
    if (stream >= 0 && e->lines.len + len > HC_FRONT_COMMAND_EVENTS) {
        c->cut[stream] = true;
        (void)hc_buf_fmt(&e->lines, "{\"event\": \"cut\", \"command\": \"%s\", \"stream\": \"%s\"}\n", c->id,
                         event);
    } else {
        (void)hc_buf_add(&e->lines, line, len);
        (void)hc_buf_str(&e->lines, "\n");
    }
    hc_task_wake(c->task);
}

/* The tenant pays for a command when it ends, as for a run. */
static void take_exit(struct hc_front_session *s, struct hc_front_command *c, const cJSON *json,
                      const char *line, size_t len)
{
    const cJSON *cpu = hc_json_member(json, "cpu");
    const struct hc_usage used = {.cpu_us = cJSON_IsNumber(cpu) ? (int64_t)(cpu->valuedouble * 1e6) : 0};
    s->cpu_us += used.cpu_us;
    s->changes++;
    hc_tenant_charge(s->tenant, &used, hc_mono_ms());
    hc_front_session_meter(s);
    c->exited = strndup(line, len);
    tell(c, "exited", line, len);
    end_task(c);
    while (c->ask_count) {
        struct hc_problem ended;
        hc_problem_set(&ended, HC_PROBLEM_IN_USE, "the command has ended");
        answer_ask(c, &ended);
    }
    forget_old(s);
}

static void count_output(struct hc_front_command *c, const char *event, const cJSON *json)
{
    const int stream = stream_of(event);
    if (stream >= 0) /* base64 has four characters for three bytes */
        c->printed[stream] +=
            (int64_t)(strlen(hc_json_text(json, "text")) + strlen(hc_json_text(json, "data")) / 4 * 3);
}

/* The session's process leaves output out: that is told once, whether or not the front has begun to do so. */
static void take_cut(struct hc_front_command *c, const cJSON *json, const char *line, size_t len)
{
    const int stream = stream_of(hc_json_text(json, "stream"));
    if (stream < 0 || c->cut[stream])
        return;
    c->cut[stream] = true;
    tell(c, "cut", line, len);
}

void hc_front_commands_take(struct hc_front_session *s, const cJSON *json, const char *line, size_t len)
{
    const char *event = hc_json_text(json, "event");
    struct hc_front_command *c = hc_front_command_find(s, hc_json_text(json, "command"));
    if (!c || c->exited)
        return;
    count_output(c, event, json);
    if (strcmp(event, "error") == 0) {
        take_failure(s, c, json);
    } else if (strcmp(event, "done") == 0) {
        answer_ask(c, NULL);
    } else if (strcmp(event, "started") == 0) {
        c->pid = hc_json_int(json, "pid", 0);
        c->started = hc_wall_ms();
        tell(c, event, line, len);
        if (c->start)
            answer_start(c, NULL);
    } else if (strcmp(event, "exited") == 0) {
        take_exit(s, c, json, line, len);
    } else if (strcmp(event, "cut") == 0) {
        take_cut(c, json, line, len);
    } else {
        tell(c, event, line, len);
    }
}

/* The last event of a command whose session's process has gone without telling it: its cell has gone with the
 * process, and all processes in it were killed. */
static void lose(struct hc_front_command *c, const struct hc_problem *why)
{
    hc_autobuf line = {0};
    (void)hc_buf_fmt(&line,
                     "{\"event\": \"exited\", \"command\": \"%s\", \"process\": {\"signal\": 9, \"name\": "
                     "\"SIGKILL\"}, \"status\": \"killed\", \"reason\": ",
                     c->id);
    hc_json_quote(&line, why->detail, strlen(why->detail));
    (void)hc_buf_fmt(&line, ", \"wall\": %.3f, \"cpu\": 0", (double)(hc_wall_ms() - c->started) / 1e3);
    for (int i = 0; i < 2; i++)
        (void)hc_buf_fmt(&line, ", \"%s\": {\"bytes\": %lld, \"truncated\": false}", i ? "stderr" : "stdout",
                         (long long)c->printed[i]);
    (void)hc_buf_str(&line, "}");
    c->exited = line.failed ? NULL : strdup(line.data);
    if (c->exited)
        tell(c, "exited", line.data, line.len);
    end_task(c);
}

void hc_front_commands_sweep(struct hc_front_session *s)
{
    const int64_t now = hc_mono_ms();
    for (struct hc_front_command *c = s->commands; c; c = c->next) {
        struct hc_problem ignored;
        if (!c->deadline || now < c->deadline || c->start || c->exited)
            continue;
        cJSON *members = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(members, "signal", "KILL");
        struct hc_task *task = hc_front_command_ask(s, c, "command_signal", members, &ignored);
        cJSON_Delete(members);
        if (!task) /* earlier requests about it wait: the next sweep tries again */
            continue;
        c->late = true;
        c->deadline = 0;
        hc_task_unref(task);
        hc_task_wake(c->task);
    }
}

void hc_front_commands_end(struct hc_front_session *s, const struct hc_problem *why)
{
    for (struct hc_front_command *c = s->commands, *next; c; c = next) {
        next = c->next;
        while (c->ask_count)
            answer_ask(c, &s->problem);
        if (c->start) {
            end_task(c);
            answer_start(c, &s->problem);
            hc_front_command_forget(s, c);
        } else if (!c->exited) {
            lose(c, why);
        }
    }
}
