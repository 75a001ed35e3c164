/* Any bytes as the body of a request for a job or a session: refused with a reason, or one whose inputs all
 * have content and a plain file name. */
#include "job/job.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void parse_upload(const char *text, size_t len, bool session)
{
    struct hc_job job;
    struct hc_uploads uploads;
    struct hc_error err = {0};
    if (hc_job_parse_upload(&job, &uploads, session, "request", text, len, &err) < 0) {
        require(err.exit == HC_EXIT_DATA && *err.text);
        return;
    }
    require(!session || !job.code);
    require(uploads.count == job.input_count && !job.output_dir && !job.sign && !job.tenant && !job.job_id);
    require(!job.policy || !strchr(job.policy, '/'));
    for (size_t i = 0; i < job.input_count; i++)
        require(!uploads.list[i].data != !uploads.list[i].upload && *job.inputs[i].path &&
                job.inputs[i].path[0] != '.' && !strchr(job.inputs[i].path, '/'));
    (void)hc_job_check(&job, &err);
    hc_uploads_finish(&uploads);
    hc_job_finish(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    parse_upload((const char *)data, len, false);
    parse_upload((const char *)data, len, true);
    return 0;
}
