#include "job/job.h"

#include <string.h>
#include <strings.h>

static const char *const format_names[] = {
    [HC_INPUT_PATH] = "path",     [HC_INPUT_JSONL] = "jsonl", [HC_INPUT_JSON] = "json",
    [HC_INPUT_CSV] = "csv",       [HC_INPUT_NPY] = "npy",     [HC_INPUT_NPZ] = "npz",
    [HC_INPUT_VALUE] = "hcvalue", [HC_INPUT_FRAME] = "frame",
};
static const char raw_mark[] = ":raw";

/* The extension behind the last dot of the last component, "" if there is none. */
static const char *extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? dot + 1 : "";
}

enum hc_input_format hc_input_format_of(const char *path)
{
    const char *ext = extension(path);
    for (size_t i = HC_INPUT_PATH + 1; i < HC_INPUT_FRAME; i++)
        if (strcasecmp(ext, format_names[i]) == 0)
            return (enum hc_input_format)i;
    return HC_INPUT_PATH;
}

enum hc_input_format hc_input_split(const char *given, const char *path, char name[HC_JOB_NAME + 2])
{
    size_t len = strlen(given), mark = sizeof raw_mark - 1;
    bool raw = len > mark && strcmp(given + len - mark, raw_mark) == 0;
    len -= raw ? mark : 0;
    (void)snprintf(name, HC_JOB_NAME + 2, "%.*s", (int)(len > HC_JOB_NAME ? HC_JOB_NAME + 1 : len), given);
    return raw ? HC_INPUT_PATH : hc_input_format_of(path);
}

const char *hc_input_mark(const struct hc_input *in)
{
    bool raw = in->format == HC_INPUT_PATH && hc_input_format_of(in->path) != HC_INPUT_PATH;
    return raw ? raw_mark : "";
}

const char *hc_input_format_name(enum hc_input_format f)
{
    return format_names[f];
}

int hc_input_cell_path(const struct hc_input *in, char *out, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *ext = extension(in->path);
    size_t len = strlen(ext);
    bool keep = len > 0 && len <= 8 && strspn(ext, plain) == len;
    int n = snprintf(out, size, "/input/%s%s%s", in->name, keep ? "." : "", keep ? ext : "");
    return n > 0 && (size_t)n < size ? 0 : -1;
}
