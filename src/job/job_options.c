#include "job/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HC_JOB_TEXT(member, ...) {.name = #member, .at = offsetof(struct hc_job, member), __VA_ARGS__},
#define HC_JOB_FLAG(member, ...)                                                                             \
    {.name = #member, .at = offsetof(struct hc_job, member), .is_flag = true, __VA_ARGS__},
const struct hc_job_option hc_job_options[] = {
#include "job/job_options.def"
};
const size_t hc_job_options_count = sizeof hc_job_options / sizeof *hc_job_options;

char **hc_job_text(struct hc_job *job, const struct hc_job_option *row)
{
    return (char **)(void *)((char *)job + row->at);
}

bool *hc_job_flag(struct hc_job *job, const struct hc_job_option *row)
{
    return (bool *)(void *)((char *)job + row->at);
}

const char *hc_job_text_of(const struct hc_job *job, const struct hc_job_option *row)
{
    return row->is_flag ? NULL : *(char *const *)(const void *)((const char *)job + row->at);
}

bool hc_job_flag_of(const struct hc_job *job, const struct hc_job_option *row)
{
    return row->is_flag && *(const bool *)(const void *)((const char *)job + row->at);
}

const char *hc_job_bad_choice(const struct hc_job_option *row, const char *text, char out[HC_JOB_CHOICES])
{
    size_t used = 0;
    for (size_t i = 0; row->choices && row->choices[i]; i++) {
        if (strcmp(row->choices[i], text) == 0)
            return NULL;
        const char *before = i == 0 ? "" : row->choices[i + 1] ? ", " : " or ";
        int n = snprintf(out + used, HC_JOB_CHOICES - used, "%s%s", before, row->choices[i]);
        used += n > 0 && (size_t)n < HC_JOB_CHOICES - used ? (size_t)n : 0;
    }
    return row->choices ? out : NULL;
}

int hc_job_set(struct hc_job *job, const struct hc_job_option *row, const char *text, struct hc_error *err)
{
    if (row->is_flag) {
        *hc_job_flag(job, row) = true;
        return 0;
    }
    if (row->is_id && hc_job_check_id(text, err) < 0)
        return hc_exit_as(err, HC_EXIT_USAGE);
    if (!*text)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a value, got an empty string");
    char list[HC_JOB_CHOICES];
    const char *expected = hc_job_bad_choice(row, text, list);
    if (expected)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected %s, got '%.40s'", expected, text);
    char *copy = strdup(text);
    if (!copy)
        return hc_fail(err, ENOMEM, "options");
    free(*hc_job_text(job, row));
    *hc_job_text(job, row) = copy;
    return 0;
}
