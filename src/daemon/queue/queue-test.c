/* The order in which jobs run: shares, bounds, and what one tenant's flood does to another. Time is
 * simulated. */
#include "daemon/queue/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_JOBS = 4096 };

/* Workers that take jobs from the queue, and a clock that steps from event to event. */
struct house {
    struct hc_queue *queue;
    int64_t now, workers;
    struct job {
        struct hc_queued queued;
        int64_t takes, begun, ends;
        bool runs, ended;
    } jobs[MAX_JOBS];
    size_t count;
};

static struct hc_tenant tenant(const char *name, int64_t weight)
{
    struct hc_tenant t = {.quota = {.weight = weight, .queued = MAX_JOBS}};
    (void)snprintf(t.name, sizeof t.name, "%s", name);
    hc_window_init(&t.cpu_us, 64000);
    hc_window_init(&t.kib_s, 64000);
    t.quota.window_ms = 64000;
    return t;
}

static struct house *open_house(int64_t workers)
{
    struct hc_error err;
    struct house *h = calloc(1, sizeof *h);
    assert_non_null(h);
    h->workers = workers;
    assert_int_equal(hc_queue_create(&h->queue, workers, MAX_JOBS, &err), 0);
    return h;
}

/* What a tenant that was promised nothing may have beside others. */
static void one_worker_is_left_for_others(void **state)
{
    struct hc_error err;
    struct hc_queue *q;
    struct hc_tenant t = tenant("a", 100);
    (void)state;
    assert_int_equal(hc_queue_create(&q, 4, MAX_JOBS, &err), 0);
    assert_int_equal(hc_queue_most_running(q, &t), 4);
    hc_queue_share(q, true);
    assert_int_equal(hc_queue_most_running(q, &t), 3);
    hc_queue_resize(q, 1, MAX_JOBS); /* which cannot be shared but in turn */
    assert_int_equal(hc_queue_most_running(q, &t), 1);
    hc_queue_resize(q, 4, MAX_JOBS);
    t.quota.running = 4;
    assert_int_equal(hc_queue_most_running(q, &t), 4);
    t.quota.running = 9;
    assert_int_equal(hc_queue_most_running(q, &t), 4);
    hc_queue_destroy(q);
}

static void close_house(struct house *h)
{
    hc_queue_destroy(h->queue);
    free(h);
}

static struct job *try_submit(struct house *h, struct hc_tenant *t, int64_t takes, struct hc_refusal *why)
{
    assert_true(h->count < MAX_JOBS);
    struct job *j = &h->jobs[h->count++];
    (void)snprintf(j->queued.id, sizeof j->queued.id, "job-%zu", h->count);
    j->queued.tenant = t;
    j->queued.memory = 100;
    j->takes = takes;
    return hc_queue_push(h->queue, &j->queued, h->now, why) ? j : NULL;
}

static struct job *submit(struct house *h, struct hc_tenant *t, int64_t takes)
{
    struct hc_refusal why = {0};
    struct job *j = try_submit(h, t, takes, &why);
    if (!j)
        fail_msg("refused: %s", why.text);
    return j;
}

static void start_jobs(struct house *h)
{
    struct hc_queued *q;
    while ((q = hc_queue_pop(h->queue, h->now))) {
        struct job *j = (struct job *)(void *)q;
        j->runs = true;
        j->begun = h->now;
        j->ends = h->now + j->takes;
    }
    assert_true(hc_queue_running(h->queue) <= h->workers);
}

/* Run until `until`, or until nothing is left (-1). */
static void run(struct house *h, int64_t until)
{
    for (;;) {
        struct job *next = NULL;
        start_jobs(h);
        for (size_t i = 0; i < h->count; i++)
            if (h->jobs[i].runs && (!next || h->jobs[i].ends < next->ends))
                next = &h->jobs[i];
        int64_t held = hc_queue_held(h->queue, h->now);
        int64_t at = held >= 0 && (!next || h->now + held < next->ends) ? h->now + held
                     : next                                             ? next->ends
                                                                        : -1;
        if (at < 0 || (until >= 0 && at > until))
            break;
        h->now = at;
        if (!next || at < next->ends)
            continue;
        next->runs = false;
        next->ended = true;
        hc_queue_done(h->queue, &next->queued, next->takes, NULL, h->now);
    }
    if (until >= 0)
        h->now = until;
}

static int64_t time_of(const struct house *h, const struct hc_tenant *t)
{
    int64_t sum = 0;
    for (size_t i = 0; i < h->count; i++)
        if (h->jobs[i].queued.tenant == t && (h->jobs[i].runs || h->jobs[i].ended))
            sum += (h->jobs[i].ended ? h->jobs[i].ends : h->now) - h->jobs[i].begun;
    return sum;
}

static void one_tenant_has_first_come_first_served(void **state)
{
    struct hc_tenant a = tenant("a", 100);
    struct house *h = open_house(1);
    (void)state;
    for (int i = 0; i < 20; i++)
        (void)submit(h, &a, 10);
    assert_int_equal(hc_queue_position(&h->jobs[5].queued), 5);
    run(h, -1);
    for (size_t i = 1; i < h->count; i++)
        assert_true(h->jobs[i].begun == h->jobs[i - 1].ends);
    assert_int_equal(hc_queue_waiting(h->queue) + hc_queue_running(h->queue) + a.running + a.queued, 0);
    close_house(h);
}

/* The other one's jobs find a worker as soon as one is free, however long the flood's queue is. */
static void a_flood_costs_others_one_job_at_most(void **state)
{
    struct hc_tenant flood = tenant("flood", 100), quiet = tenant("quiet", 100);
    struct house *h = open_house(2);
    struct job *asked[50];
    (void)state;
    for (int i = 0; i < 2000; i++)
        (void)submit(h, &flood, 10);
    for (int i = 0; i < 50; i++) {
        run(h, h->now + 53);
        asked[i] = submit(h, &quiet, 10);
    }
    run(h, -1);
    for (int i = 0; i < 50; i++)
        assert_in_range(asked[i]->begun - asked[i]->queued.pushed, 0, 10);
    close_house(h);
}

static int jobs_begun_at_once(struct house *h, struct hc_tenant *t, int jobs)
{
    int at_once = 0;
    for (int i = 0; i < jobs; i++) {
        const struct job *j = submit(h, t, 10);
        while (!j->ended)
            run(h, h->now + 1);
        at_once += j->begun == j->queued.pushed;
    }
    return at_once;
}

/* All but the first: a worker is kept for who has just gone, if his turn is next. */
static void one_job_after_the_other_does_not_wait_for_a_flood(void **state)
{
    struct hc_tenant flood = tenant("flood", 100), quiet = tenant("quiet", 100);
    struct house *h = open_house(2);
    (void)state;
    for (int i = 0; i < 500; i++)
        (void)submit(h, &flood, 10);
    assert_in_range(jobs_begun_at_once(h, &quiet, 20), 19, 20);
    assert_true(time_of(h, &flood) + 10 >= h->now); /* the other worker is never without */
    run(h, h->now + 100);
    int64_t before = time_of(h, &flood), from = h->now;
    run(h, h->now + 100); /* it does not come back */
    assert_int_equal(time_of(h, &flood) - before, 2 * (h->now - from));
    close_house(h);
}

static void no_worker_is_kept_for_who_has_had_his_share(void **state)
{
    struct hc_tenant flood = tenant("flood", 100), quiet = tenant("quiet", 1);
    struct house *h = open_house(2);
    (void)state;
    for (int i = 0; i < 1000; i++)
        (void)submit(h, &flood, 10);
    (void)jobs_begun_at_once(h, &quiet, 1);
    const struct job *longer = submit(h, &quiet, 100);
    while (!longer->ended)
        run(h, h->now + 1);
    start_jobs(h);
    assert_int_equal(hc_queue_running(h->queue), 2);
    assert_int_equal(hc_queue_held(h->queue, h->now), -1);
    close_house(h);
}

static void two_that_want_all_get_what_their_weights_say(void **state)
{
    static const struct {
        int64_t weight_a, takes_a, weight_b, takes_b;
    } rows[] = {
        {100, 10, 100, 10}, /* the same */
        {300, 10, 100, 10}, /* three to one */
        {100, 90, 100, 10}, /* long jobs are no more than short ones */
        {200, 5, 100, 50},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hc_tenant a = tenant("a", rows[i].weight_a), b = tenant("b", rows[i].weight_b);
        struct house *h = open_house(3);
        for (int k = 0; k < 2000; k++) {
            (void)submit(h, &a, rows[i].takes_a);
            (void)submit(h, &b, rows[i].takes_b);
        }
        run(h, 3000);
        double share = (double)time_of(h, &a) / (double)(time_of(h, &a) + time_of(h, &b));
        double due = (double)rows[i].weight_a / (double)(rows[i].weight_a + rows[i].weight_b);
        if (share < due - 0.05 || share > due + 0.05)
            fail_msg("row %zu: a share of %.3f instead of %.3f", i, share, due);
        close_house(h);
    }
}

static void nobody_saves_up_turns_while_away_or_held_back(void **state)
{
    struct hc_tenant busy = tenant("busy", 100), away = tenant("away", 100), slow = tenant("slow", 100);
    struct house *h = open_house(2);
    (void)state;
    slow.quota.running = 1;
    for (int i = 0; i < 600; i++)
        (void)submit(h, &busy, 10);
    for (int i = 0; i < 100; i++)
        (void)submit(h, &slow, 30);
    run(h, 1500);
    for (int i = 0; i < 300; i++)
        (void)submit(h, &away, 10);
    slow.quota.running = 0;
    int64_t before = time_of(h, &busy), until = h->now + 600;
    run(h, until);
    /* A third of two workers for 600 ms, within a job or two of each. */
    assert_in_range(time_of(h, &busy) - before, 400 - 60, 400 + 60);
    close_house(h);
}

static void nobody_owes_for_time_that_nobody_else_wanted(void **state)
{
    struct hc_tenant a = tenant("a", 100), b = tenant("b", 100);
    struct house *h = open_house(1);
    (void)state;
    (void)submit(h, &a, 100000);
    run(h, -1);
    for (int i = 0; i < 100; i++) {
        (void)submit(h, &b, 10);
        (void)submit(h, &a, 10);
    }
    int64_t from = h->now, before = time_of(h, &a);
    run(h, from + 400);
    assert_in_range(time_of(h, &a) - before, 150, 250);
    close_house(h);
}

static void each_quota_refuses_with_its_name_and_a_time(void **state)
{
    struct hc_tenant a = tenant("a", 100);
    struct house *h = open_house(1);
    struct hc_refusal why;
    (void)state;
    a.quota.queued = 3;
    for (int i = 0; i < 3; i++)
        (void)submit(h, &a, 5000);
    assert_null(try_submit(h, &a, 1, &why));
    assert_string_equal(why.quota, "queued");
    assert_in_range(why.retry_ms, 1000, 5000);
    run(h, -1);
    a.quota.memory = 50;
    assert_null(try_submit(h, &a, 1, &why));
    assert_string_equal(why.quota, "memory");
    assert_int_equal(why.retry_ms, -1);
    a.quota.memory = 0;
    hc_queue_resize(h->queue, 1, 0);
    assert_null(try_submit(h, &a, 1, &why));
    assert_string_equal(why.quota, "queue");
    hc_queue_resize(h->queue, 1, 10);
    a.removed = true;
    assert_null(try_submit(h, &a, 1, &why));
    assert_string_equal(why.quota, "tenants");
    a.removed = false;
    a.quota.cpu_ms = 1000;
    hc_tenant_charge(&a, &(struct hc_usage){.cpu_us = 1000000}, h->now);
    assert_null(try_submit(h, &a, 1, &why));
    assert_string_equal(why.quota, "cpu_seconds");
    assert_in_range(why.retry_ms, 64000 - 1000, 66000);
    assert_int_equal(a.queued, 0);
    close_house(h);
}

static void running_jobs_stay_within_count_and_memory(void **state)
{
    struct hc_tenant a = tenant("a", 100), b = tenant("b", 100);
    struct house *h = open_house(8);
    (void)state;
    a.quota.running = 3;
    b.quota.memory = 250; /* two jobs of 100 */
    for (int i = 0; i < 10; i++) {
        (void)submit(h, &a, 10);
        (void)submit(h, &b, 10);
    }
    start_jobs(h);
    assert_int_equal(a.running, 3);
    assert_int_equal(b.running, 2);
    assert_int_equal(b.running_memory, 200);
    b.quota.memory = 50; /* a reload: what was accepted still runs, alone */
    run(h, -1);
    assert_true(h->jobs[19].ended);
    close_house(h);
}

static void memory_of_sessions_holds_jobs(void **state)
{
    struct hc_tenant a = tenant("a", 100);
    struct house *h = open_house(8);
    (void)state;
    a.quota.memory = 250;
    a.running_memory = 200; /* of sessions, which are no jobs */
    (void)submit(h, &a, 10);
    assert_null(hc_queue_pop(h->queue, h->now));
    a.running_memory = 100;
    start_jobs(h);
    assert_int_equal(a.running, 1);
    run(h, -1);
    close_house(h);
}

static void a_used_up_window_holds_jobs_until_it_has_moved_on(void **state)
{
    struct hc_tenant a = tenant("a", 100);
    struct house *h = open_house(1);
    (void)state;
    a.quota.cpu_ms = 1000;
    struct job *first = submit(h, &a, 10), *second = submit(h, &a, 10);
    start_jobs(h);
    hc_queue_done(h->queue, &first->queued, 10, &(struct hc_usage){.cpu_us = 2000000}, 10);
    first->runs = false;
    h->now = 10;
    assert_null(hc_queue_pop(h->queue, h->now));
    struct hc_refusal why;
    assert_false(hc_tenant_has_time(&a, h->now, &why));
    int64_t wait = why.retry_ms;
    assert_in_range(wait, 64000 - 10, 66000);
    assert_null(hc_queue_pop(h->queue, h->now + wait - 1));
    assert_ptr_equal(hc_queue_pop(h->queue, h->now + wait), &second->queued);
    close_house(h);
}

static void a_waiting_job_can_be_taken_out(void **state)
{
    struct hc_tenant a = tenant("a", 100);
    struct house *h = open_house(1);
    (void)state;
    for (int i = 0; i < 3; i++)
        (void)submit(h, &a, 10);
    start_jobs(h);
    hc_queue_cancel(h->queue, &h->jobs[1].queued);
    hc_queue_cancel(h->queue, &h->jobs[1].queued);
    hc_queue_cancel(h->queue, &h->jobs[0].queued); /* no effect on one that runs */
    assert_int_equal(hc_queue_waiting(h->queue), 1);
    run(h, -1);
    assert_true(h->jobs[0].ended && !h->jobs[1].ended && h->jobs[2].ended);
    close_house(h);
}

static void a_job_that_could_not_be_begun_is_its_tenants_next(void **state)
{
    (void)state;
    struct house *h = open_house(1);
    struct hc_tenant a = tenant("a", 100), b = tenant("b", 100);
    const struct job *first = submit(h, &a, 10), *second = submit(h, &a, 10);
    struct hc_queued *q = hc_queue_pop(h->queue, 0);
    assert_ptr_equal(q, &first->queued);
    const struct job *other = submit(h, &b, 10);
    hc_queue_put_back(h->queue, q);
    assert_int_equal(hc_queue_waiting(h->queue), 3);
    assert_int_equal(hc_queue_running(h->queue), 0);
    assert_int_equal(a.running_memory, 0);
    run(h, -1);
    assert_true(first->begun < second->begun && other->begun < second->begun);
    /* As the only one, so that nobody waits meanwhile. */
    const struct job *last = submit(h, &b, 10);
    q = hc_queue_pop(h->queue, h->now);
    hc_queue_put_back(h->queue, q);
    run(h, -1);
    assert_true(last->ended && other->ended);
    assert_int_equal(b.queued + b.running, 0);
    close_house(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tenant_has_first_come_first_served),
        cmocka_unit_test(a_flood_costs_others_one_job_at_most),
        cmocka_unit_test(one_job_after_the_other_does_not_wait_for_a_flood),
        cmocka_unit_test(no_worker_is_kept_for_who_has_had_his_share),
        cmocka_unit_test(two_that_want_all_get_what_their_weights_say),
        cmocka_unit_test(nobody_saves_up_turns_while_away_or_held_back),
        cmocka_unit_test(nobody_owes_for_time_that_nobody_else_wanted),
        cmocka_unit_test(each_quota_refuses_with_its_name_and_a_time),
        cmocka_unit_test(running_jobs_stay_within_count_and_memory),
        cmocka_unit_test(memory_of_sessions_holds_jobs),
        cmocka_unit_test(a_used_up_window_holds_jobs_until_it_has_moved_on),
        cmocka_unit_test(one_worker_is_left_for_others),
        cmocka_unit_test(a_job_that_could_not_be_begun_is_its_tenants_next),
        cmocka_unit_test(a_waiting_job_can_be_taken_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
