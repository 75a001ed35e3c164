/* Directories of the host that a job gets, as a command line or a spec gives them. */
#include "job/job.h"

#include "base/utf8.h"
#include "job/job_parts.h"
#include "json/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const modes[] = {
    [HC_DIR_RO] = "ro", [HC_DIR_COW] = "cow", [HC_DIR_RW] = "rw", [HC_DIR_SCRATCH] = "scratch"};

#define EXPECTED_MODE "expected the mode ro, cow, rw or scratch"

const char *hc_dir_mode_name(enum hc_dir_mode mode)
{
    return modes[mode];
}

static bool find_mode(const char *text, enum hc_dir_mode *mode)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i], text) == 0) {
            *mode = (enum hc_dir_mode)i;
            return true;
        }
    return false;
}

/* Is `path` absolute, without a slash at its end and without empty parts, "." and ".."? */
static bool is_plain_path(const char *path)
{
    if (path[0] != '/')
        return false;
    for (const char *part = path + 1;; part++) {
        size_t len = strcspn(part, "/");
        if (len == 0 || (len <= 2 && strncmp(part, "..", len) == 0))
            return false;
        part += len;
        if (!*part)
            return true;
    }
}

const char *hc_dir_bad_place(const char *place)
{
    static const char *const taken[] = {"/proc", "/dev", "/input", "/output"};
    if (!is_plain_path(place))
        return "expected an absolute path in the cell without empty parts, '.' and '..'";
    if (strlen(place) > HC_DIR_PLACE)
        return "the place in the cell is longer than 1024 bytes";
    if (!hc_utf8_valid(place, strlen(place), NULL))
        return "the place in the cell is not UTF-8: give another PLACE";
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (hc_path_covers(taken[i], place))
            return "/proc, /dev, /input and /output are hotcell's own in a cell: give another PLACE";
    return strcmp(place, "/tmp") == 0 ? "/tmp is the program's own: give a PLACE below it, or another" : NULL;
}

const char *hc_job_put_dir(struct hc_job *job, const char *host, const char *place, const char *mode)
{
    struct hc_dir dir = {.mode = HC_DIR_RO};
    const char *bad = hc_job_bad_path(host);
    if (!bad && place)
        bad = hc_dir_bad_place(place);
    if (!bad && mode && !find_mode(mode, &dir.mode))
        bad = EXPECTED_MODE;
    if (!bad && job->dir_count == HC_MAX_DIRS)
        bad = "more than 16 directories";
    if (bad)
        return bad;
    dir.host = strdup(host);
    dir.place = place ? strdup(place) : NULL;
    job->dirs[job->dir_count++] = dir;
    return dir.host && (dir.place || !place) ? NULL : "out of memory";
}

const char *hc_job_put_volume(struct hc_job *job, const char *name, const char *place)
{
    const char *bad = hc_is_id(name, HC_JOB_NAME)
                          ? hc_dir_bad_place(place)
                          : "expected a name of letters, digits, '.', '_' and '-', at most 64";
    size_t volumes = 0;
    for (size_t i = 0; i < job->dir_count; i++) {
        if (!job->dirs[i].volume)
            continue;
        volumes++;
        if (strcmp(job->dirs[i].volume, name) == 0)
            bad = "the volume is given twice";
    }
    if (!bad && (volumes == HC_JOB_VOLUMES || job->dir_count == HC_MAX_DIRS))
        bad = "more than 4 volumes";
    if (bad)
        return bad;
    struct hc_dir *dir = &job->dirs[job->dir_count++];
    *dir = (struct hc_dir){
        .host = strdup(""), .place = strdup(place), .volume = strdup(name), .mode = HC_DIR_COW};
    return dir->host && dir->place && dir->volume ? NULL : "out of memory";
}

void hc_job_free_dirs(struct hc_job *job)
{
    for (size_t i = 0; i < job->dir_count; i++) {
        free(job->dirs[i].volume);
        free(job->dirs[i].host);
        free(job->dirs[i].place);
    }
}

/* Parses HOST[:PLACE][:MODE]. PLACE begins with a slash, MODE has none: so the last ":/" is before PLACE. */
int hc_job_add_dir(struct hc_job *job, const char *text, struct hc_error *err)
{
    char *host = strdup(text);
    if (!host)
        return hc_fail(err, ENOMEM, "directories");
    char *mode = strrchr(host, ':'), *place = NULL;
    if (mode && strchr(mode, '/'))
        mode = NULL;
    if (mode)
        *mode++ = '\0';
    for (char *at = host; (at = strstr(at, ":/")); at++)
        place = at;
    if (place)
        *place++ = '\0';
    const char *bad = hc_job_put_dir(job, host, place, mode);
    free(host);
    return bad ? hc_fail_as(err, HC_EXIT_USAGE, 0, "'%.200s': %s", text, bad) : 0;
}
