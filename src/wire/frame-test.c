/* Frames, and which conversations with a cell the launcher accepts. */
#include "wire/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define LAST         HC_FRAME_LAST

static size_t packet(char *out, int type, int flags, const char *text)
{
    size_t len = strlen(text);
    struct hc_frame_head head = {.type = (uint8_t)type, .flags = (uint8_t)flags, .len = (uint32_t)len};
    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, text, len);
    return sizeof head + len;
}

static void a_packet_must_be_exactly_one_frame(void **state)
{
    static const struct {
        struct hc_frame_head head;
        size_t payload; /* bytes that are really there */
        bool good;
    } rows[] = {
        {{.type = HC_FRAME_READY, .flags = LAST}, 0, true},
        {{.type = HC_FRAME_REPORT, .flags = LAST, .len = 5}, 5, true},
        {{.type = HC_FRAME_REPORT, .flags = 0, .len = HC_FRAME_CHUNK}, HC_FRAME_CHUNK, true},
        {{.type = HC_FRAME_REPORT, .flags = LAST, .len = HC_FRAME_CHUNK + 1}, HC_FRAME_CHUNK + 1, false},
        {{.type = HC_FRAME_REPORT, .flags = LAST, .len = 5}, 4, false},
        {{.type = HC_FRAME_REPORT, .flags = LAST, .len = 5}, 6, false},
        {{.type = HC_FRAME_REPORT, .flags = LAST, .len = UINT32_MAX}, 8, false},
        {{.type = HC_FRAME_REPORT, .flags = 0}, 0, false}, /* goes on, and does not grow */
        {{.type = HC_FRAME_READY, .flags = LAST, .len = 1}, 1, false},
        {{.type = HC_FRAME_RUN, .flags = 0}, 0, false},
        {{.type = 0, .flags = LAST}, 0, false},
        {{.type = HC_FRAME_TYPES, .flags = LAST}, 0, false},
        {{.type = 255, .flags = LAST}, 0, false},
        {{.type = HC_FRAME_READY, .flags = 0x03}, 0, false},
        {{.type = HC_FRAME_READY, .flags = LAST, .zero = 1}, 0, false},
    };
    char *data = calloc(1, sizeof(struct hc_frame_head) + HC_FRAME_CHUNK + 1);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct hc_frame_head head;
        const void *payload;
        struct hc_error err;
        memcpy(data, &rows[i].head, sizeof head);
        int rc = hc_frame_parse(data, sizeof head + rows[i].payload, &head, &payload, &err);
        if ((rc == 0) != rows[i].good)
            fail_msg("row %zu: %s", i, rc == 0 ? "accepted" : err.text);
    }
    for (size_t len = 0; len < sizeof(struct hc_frame_head); len++) {
        struct hc_frame_head head;
        const void *payload;
        struct hc_error err;
        assert_int_equal(hc_frame_parse(data, len, &head, &payload, &err), -1);
    }
    free(data);
}

struct step {
    int type, flags;
    const char *text;
    int answer; /* what hc_inbox_feed returns */
};

#define TAKEN(type, text)                                                                                    \
    {                                                                                                        \
        type, LAST, text, type                                                                               \
    }
#define READY        TAKEN(HC_FRAME_READY, "")
#define RUN          TAKEN(HC_FRAME_RUN, "")
#define REPORT       TAKEN(HC_FRAME_REPORT, "{}")
#define REJECTED     TAKEN(HC_FRAME_REJECTED, "{}")
#define FILTERED     TAKEN(HC_FRAME_FILTERED, "")
#define CHECKED      TAKEN(HC_FRAME_CHECKED, "{}")
#define KEPT         TAKEN(HC_FRAME_KEPT, "")
#define RESUMED      TAKEN(HC_FRAME_RESUMED, "")
#define UNKEPT       TAKEN(HC_FRAME_UNKEPT, "")
#define PASSED       TAKEN(HC_FRAME_PASSED, "")
#define DENIAL(text) TAKEN(HC_FRAME_DENIAL, text)
#define REFUSED(type, flags, text)                                                                           \
    {                                                                                                        \
        type, flags, text, -1                                                                                \
    }
#define BAD_READY    REFUSED(HC_FRAME_READY, LAST, "")
#define BAD_RUN      REFUSED(HC_FRAME_RUN, LAST, "")
#define BAD_REPORT   REFUSED(HC_FRAME_REPORT, LAST, "{}")
#define BAD_REJECTED REFUSED(HC_FRAME_REJECTED, LAST, "{}")
#define BAD_FILTERED REFUSED(HC_FRAME_FILTERED, LAST, "")
#define BAD_DENIAL   REFUSED(HC_FRAME_DENIAL, LAST, "{}")
#define BAD_KEPT     REFUSED(HC_FRAME_KEPT, LAST, "")
#define BAD_RESUMED  REFUSED(HC_FRAME_RESUMED, LAST, "")
#define BAD_UNKEPT   REFUSED(HC_FRAME_UNKEPT, LAST, "")
#define BAD_PASSED   REFUSED(HC_FRAME_PASSED, LAST, "")
#define BAD_CHECKED  REFUSED(HC_FRAME_CHECKED, LAST, "{}")
#define BEGIN(text)                                                                                          \
    {                                                                                                        \
        HC_FRAME_REPORT, 0, text, 0                                                                          \
    }
#define END(text) TAKEN(HC_FRAME_REPORT, text)

static void converse(const char *title, struct hc_inbox in, const struct step *steps, const char *body)
{
    for (const struct step *s = steps; s->type; s++) {
        char data[64];
        struct hc_error err = {0};
        int answer = hc_inbox_feed(&in, data, packet(data, s->type, s->flags, s->text), &err);
        if (answer != s->answer)
            fail_msg("%s: step %zu: %d %s", title, (size_t)(s - steps), answer, err.text);
    }
    if (body)
        assert_string_equal(in.body.data, body);
    hc_inbox_finish(&in);
}

static void conversations(void **state)
{
    static const struct {
        const char *title;
        struct step steps[8];
        const char *body; /* afterwards, if it matters */
    } rows[] = {
        {"a job that ran", {READY, RUN, REPORT}, "{}"},
        {"a report in pieces", {READY, RUN, BEGIN("{\"a\""), BEGIN(": "), END("1}")}, "{\"a\": 1}"},
        {"a report with an empty last piece", {READY, RUN, BEGIN("{}"), END("")}, "{}"},
        {"a job that ended before it could report", {READY, RUN}, NULL},
        {"a program that was refused", {READY, REJECTED}, "{}"},
        {"data that could not be loaded", {REJECTED}, "{}"},
        {"a job under the reporting filter", {FILTERED, READY, RUN, REPORT}, "{}"},
        {"denials, then the report", {FILTERED, READY, RUN, DENIAL("[1]"), DENIAL("[2]"), REPORT}, "{}"},
        {"denials, and no report", {FILTERED, READY, RUN, DENIAL("[1]"), DENIAL("[2]")}, "[2]"},
        {"filtered twice", {FILTERED, BAD_FILTERED}, NULL},
        {"filtered after ready", {READY, BAD_FILTERED}, NULL},
        {"filtered after run", {READY, RUN, BAD_FILTERED}, NULL},
        {"filtered after rejected", {REJECTED, BAD_FILTERED}, NULL},
        {"a denial before the program runs", {FILTERED, READY, BAD_DENIAL}, NULL},
        {"a denial after the report", {READY, RUN, REPORT, BAD_DENIAL}, NULL},
        {"a denial inside a report", {READY, RUN, BEGIN("{"), BAD_DENIAL}, NULL},
        {"run before ready", {BAD_RUN}, NULL},
        {"report before run", {READY, BAD_REPORT}, NULL},
        {"report before ready", {BAD_REPORT}, NULL},
        {"ready twice", {READY, BAD_READY}, NULL},
        {"run twice", {READY, RUN, BAD_RUN}, NULL},
        {"ready after run", {READY, RUN, BAD_READY}, NULL},
        {"rejected after run", {READY, RUN, BAD_REJECTED}, NULL},
        {"rejected after the report", {READY, RUN, REPORT, BAD_REJECTED}, NULL},
        {"two reports", {READY, RUN, REPORT, BAD_REPORT}, NULL},
        {"ready after rejected", {REJECTED, BAD_READY}, NULL},
        {"run after rejected", {READY, REJECTED, BAD_RUN}, NULL},
        {"two rejections", {READY, REJECTED, BAD_REJECTED}, NULL},
        {"the launcher's own frame", {REFUSED(HC_FRAME_GO, LAST, "")}, NULL},
        {"a job, which only the launcher gives", {REFUSED(HC_FRAME_JOB, LAST, "")}, NULL},
        {"an order to prepare", {REFUSED(HC_FRAME_PREPARE, LAST, "")}, NULL},
        {"a zygote's word", {REFUSED(HC_FRAME_SAMPLE, LAST, "x")}, NULL},
        {"another message inside a report", {READY, RUN, BEGIN("{"), BAD_REJECTED}, NULL},
        {"a rejection that is never finished, then run",
         {READY, {HC_FRAME_REJECTED, 0, "{", 0}, BAD_RUN},
         NULL},
        {"more than allowed in one piece", {READY, RUN, REFUSED(HC_FRAME_REPORT, LAST, "12345678901")}, NULL},
        {"more than allowed in two",
         {READY, RUN, BEGIN("123456"), REFUSED(HC_FRAME_REPORT, LAST, "78901")},
         NULL},
        {"just as much as allowed", {READY, RUN, BEGIN("12345"), END("67890")}, "1234567890"},
        {"nothing counts after an error", {BAD_RUN, BAD_READY, BAD_RUN, BAD_REPORT}, NULL},
        {"an unknown type", {READY, REFUSED(77, LAST, "")}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        converse(rows[i].title, (struct hc_inbox){.max = 10}, rows[i].steps, rows[i].body);
}

/* What a session's interpreter may say once a run has been handed over, and what when it is to take over. */
static void runs_of_a_session(void **state)
{
    static const struct hc_inbox first = {.state = HC_TALK_READY, .asked = HC_ASKED_COPY, .max = 10};
    static const struct hc_inbox checker = {.state = HC_TALK_CHECKING, .asked = HC_ASKED_COPY, .max = 10};
    static const struct hc_inbox later = {.state = HC_TALK_AGAIN, .asked = HC_ASKED_COPY, .max = 10};
    static const struct hc_inbox woken = {.state = HC_TALK_IDLE, .asked = HC_ASKED_RESUME, .max = 10};
    static const struct hc_inbox idle = {.state = HC_TALK_IDLE, .max = 10};
    static const struct {
        const char *title;
        const struct hc_inbox *start;
        struct step steps[7];
        const char *body;
    } rows[] = {
        {"a run", &first, {KEPT, RUN, REPORT}, "{}"},
        {"a run with a warning and a denial", &first, {KEPT, CHECKED, RUN, DENIAL("[1]"), REPORT}, "{}"},
        {"a program that was refused", &first, {KEPT, REJECTED}, "{}"},
        {"data that could not be loaded for want of a copy", &first, {REJECTED}, "{}"},
        {"no copy could be made", &first, {UNKEPT, BAD_RUN}, NULL},
        {"no copy after one", &first, {KEPT, BAD_UNKEPT}, NULL},
        {"a copy after none", &first, {UNKEPT, BAD_KEPT}, NULL},
        {"no copy while it runs", &first, {RUN, BAD_UNKEPT}, NULL},
        {"a check that nobody asked for", &first, {KEPT, BAD_PASSED}, NULL},
        {"a program that passed its check", &checker, {KEPT, PASSED}, NULL},
        {"one with a warning", &checker, {KEPT, CHECKED, PASSED}, NULL},
        {"one that was refused", &checker, {KEPT, CHECKED, REJECTED}, "{}"},
        {"two words for one program", &checker, {KEPT, PASSED, BAD_REJECTED}, NULL},
        {"two words of warning", &checker, {KEPT, CHECKED, BAD_CHECKED}, NULL},
        {"the checker runs the program", &checker, {KEPT, BAD_RUN}, NULL},
        {"the checker is refused something", &checker, {KEPT, BAD_DENIAL}, NULL},
        {"the checker reports", &checker, {KEPT, BAD_REPORT}, NULL},
        {"no copy of the checker", &checker, {UNKEPT, BAD_PASSED}, NULL},
        {"a later run", &later, {KEPT, RUN, DENIAL("[1]"), REPORT}, "{}"},
        {"a later run refuses its program", &later, {KEPT, BAD_REJECTED}, NULL},
        {"it does so at once", &later, {BAD_REJECTED}, NULL},
        {"it has a word of warning", &later, {KEPT, BAD_CHECKED}, NULL},
        {"it says that it has checked its program", &later, {KEPT, BAD_PASSED}, NULL},
        {"it begins anew", &later, {BAD_READY}, NULL},
        {"it has another listener", &later, {BAD_FILTERED}, NULL},
        {"it reports before it runs", &later, {KEPT, BAD_REPORT}, NULL},
        {"no copy for a later run", &later, {UNKEPT}, NULL},
        {"a rejection between runs", &idle, {BAD_REJECTED}, NULL},
        {"a rejection by one that takes over", &woken, {BAD_REJECTED}, NULL},
        {"a run between runs", &idle, {BAD_RUN}, NULL},
        {"a copy that ended before its word was heard", &first, {RUN, KEPT, REPORT}, "{}"},
        {"two copies", &first, {KEPT, BAD_KEPT}, NULL},
        {"a second copy while it runs", &first, {KEPT, RUN, BAD_KEPT}, NULL},
        {"a take-over that nobody asked for", &first, {KEPT, BAD_RESUMED}, NULL},
        {"one while it runs", &first, {KEPT, RUN, BAD_RESUMED}, NULL},
        {"a copy inside a report", &first, {KEPT, RUN, BEGIN("{"), BAD_KEPT}, NULL},
        {"a copy with content", &first, {REFUSED(HC_FRAME_KEPT, LAST, "x")}, NULL},
        {"a copy in pieces", &first, {REFUSED(HC_FRAME_KEPT, 0, "")}, NULL},
        {"a second start", &first, {BAD_FILTERED}, NULL},
        {"ready again", &first, {KEPT, BAD_READY}, NULL},
        {"the launcher's word for the next run", &first, {REFUSED(HC_FRAME_NEXT, LAST, "")}, NULL},
        {"that word while it runs", &first, {KEPT, RUN, REFUSED(HC_FRAME_NEXT, LAST, "")}, NULL},
        {"a take-over", &woken, {RESUMED}, NULL},
        {"two of them", &woken, {RESUMED, BAD_RESUMED}, NULL},
        {"a take-over with content", &woken, {REFUSED(HC_FRAME_RESUMED, LAST, "x")}, NULL},
        {"a copy instead", &woken, {BAD_KEPT}, NULL},
        {"a copy between runs", &idle, {BAD_KEPT}, NULL},
        {"a take-over between runs", &idle, {BAD_RESUMED}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        converse(rows[i].title, *rows[i].start, rows[i].steps, rows[i].body);
}

/* The whole table: a frame of HC_FROM_SHIM is accepted only from a process in which no guest code has run. */
static void nobody_has_the_word_of_another(void **state)
{
    (void)state;
    for (int type = 1; type < HC_FRAME_TYPES; type++)
        for (int talk = 0; talk < HC_TALKS; talk++) {
            const struct hc_inbox in = {
                .state = (enum hc_talk_state)talk, .asked = HC_ASKED_COPY | HC_ASKED_RESUME, .max = 10};
            enum hc_frame_sender word = hc_frame_sender((enum hc_frame_type)type);
            bool may = hc_inbox_expects(&in, (enum hc_frame_type)type);
            bool allowed = word == HC_FROM_GUEST ||
                           (word == HC_FROM_SHIM && hc_talk_untouched((enum hc_talk_state)talk));
            if (may && !allowed)
                fail_msg("frame %d in state %d", type, talk);
        }
    assert_int_equal(hc_frame_sender(HC_FRAME_REJECTED), HC_FROM_SHIM);
    assert_int_equal(hc_frame_sender(HC_FRAME_CHECKED), HC_FROM_SHIM);
    assert_int_equal(hc_frame_sender(HC_FRAME_DENIAL), HC_FROM_GUEST);
    assert_false(hc_talk_untouched(HC_TALK_AGAIN));
    assert_false(hc_talk_untouched(HC_TALK_RUNNING));
    assert_false(hc_talk_untouched(HC_TALK_OVER));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_must_be_exactly_one_frame),
        cmocka_unit_test(conversations),
        cmocka_unit_test(runs_of_a_session),
        cmocka_unit_test(nobody_has_the_word_of_another),
    };
    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
