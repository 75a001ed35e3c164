/* Any bytes as a policy that may extend itself: refused, or in bounds and its own again once printed. */
#include "policy/options.h"

#include <stdlib.h>
#include <string.h>

struct file {
    const char *text;
    size_t len;
};

/* "parent" is an empty policy, every other name is the input; so a circle is possible. */
static int read_input(void *ctx, const char *name, const char *from, struct hc_buf *text, char **file,
                      struct hc_error *err)
{
    const struct file *f = ctx;
    bool parent = strcmp(name, "parent") == 0;
    (void)from;
    (void)err;
    *file = strdup(parent ? "parent.json" : "input.json");
    return parent ? hc_buf_str(text, "{\"limits\": {\"pids\": 3}}") : hc_buf_add(text, f->text, f->len);
}

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_bounds(const struct hc_policy *p)
{
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        int64_t value;
        if (opt->kind == HC_OPT_NAME)
            continue;
        memcpy(&value, (const char *)p + opt->at, sizeof value);
        if (opt->kind == HC_OPT_CHOICE)
            for (int64_t k = 0; k <= value; k++)
                require(opt->choices[k]);
        else
            require(value >= opt->min && value <= opt->max);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_policy p, again;
    struct hc_error err = {0};
    struct file f = {(const char *)data, len};
    if (hc_policy_load(&p, "input", read_input, &f, &err) < 0) {
        require(err.exit == HC_EXIT_CONFIG && *err.text);
        return 0;
    }
    check_bounds(&p);
    cJSON *root = hc_policy_to_json(&p);
    char *text = cJSON_PrintUnformatted(root);
    struct file printed = {text, strlen(text)};
    require(hc_policy_load(&again, "input", read_input, &printed, &err) == 0);
    require(memcmp(&p.limits, &again.limits, sizeof p.limits) == 0 && strcmp(p.name, again.name) == 0);
    free(text);
    cJSON_Delete(root);
    hc_policy_finish(&p);
    hc_policy_finish(&again);
    return 0;
}
