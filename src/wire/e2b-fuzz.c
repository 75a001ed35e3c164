/* Requests in E2B's form, which strangers send, and a session's events, parts of which are the guest's word:
 * what is taken becomes well-formed JSON, line by line. */
#include "wire/e2b.h"

#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Each line is JSON. */
static void require_lines(const struct hc_buf *b)
{
    const char *line = b->data;
    while (line && *line) {
        const size_t len = strcspn(line, "\n");
        cJSON *json = cJSON_ParseWithLength(line, len);
        require(json != NULL);
        cJSON_Delete(json);
        line += len + (line[len] == '\n');
    }
}

static bool figure(void *owner, const char *path, struct hc_buf *out)
{
    (void)owner;
    return *path && hc_buf_str(out, "aGk=") == 0;
}

static void check_requests(const char *text, size_t len)
{
    const struct hc_e2b_rules rules = {"box", "plots shell"};
    struct hc_error err = {0};
    int64_t seconds = 0;
    hc_autobuf spec = {0}, run = {0};
    if (hc_e2b_spec(&rules, text, len, &spec, &seconds, &err) == 0)
        require_lines(&spec);
    else
        require(err.text[0] && err.exit);
    require(seconds >= 0 && seconds <= 7 * 24 * 3600);
    const char *context;
    hc_autobuf anew = {0};
    const struct hc_e2b_contexts contexts = {.first = "ctx"};
    if (hc_e2b_execute(&contexts, text, len, &context, &run, &err) == 0)
        require_lines(&run);
    (void)hc_e2b_timeout(text, len, 1, &seconds, &err);
    (void)hc_e2b_new_context(text, len, &anew, &err);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1);
    hc_autobuf out = {0};
    struct hc_e2b_events events = {.now = "now", .figure = figure};
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_requests(text, size);
    for (const char *line = text; line < text + size; line += strcspn(line, "\n") + 1)
        hc_e2b_event(&events, line, strcspn(line, "\n"), &out);
    require_lines(&out);
    hc_e2b_events_finish(&events);
    cJSON *labels = cJSON_ParseWithLength(text, size);
    (void)hc_e2b_labels_fit(labels, text);
    cJSON_Delete(labels);
    free(text);
    return 0;
}
