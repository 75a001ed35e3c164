/* figure.h - a figure that a program has made, told of while it goes on: what its process says, which may be
 * anything, and what others are told. Bytes only. */
#ifndef HC_MANIFEST_FIGURE_H
#define HC_MANIFEST_FIGURE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define HC_FIGURE_PATH_MAX 320 /* with the NUL */
#define HC_FIGURE_MIME_MAX 40

/* A figure as the launcher found it, when it had been told. */
struct hc_figure {
    char path[HC_FIGURE_PATH_MAX]; /* below the output directory */
    char mime[HC_FIGURE_MIME_MAX];
    int64_t bytes;
};

/* DIRECTORY/NAME of at most 63 and 255 bytes of UTF-8 without control characters, neither beginning with '.'?
 */
bool hc_figure_is_path(const char *path);

/* {"path"} of an HC_FRAME_FIGURE; the rest of `out` is 0. */
int hc_figure_parse(struct hc_figure *out, const char *data, size_t len, struct hc_error *err);

/* {"path", "mime", "bytes"} */
void hc_figure_print(const struct hc_figure *f, struct hc_buf *out);

/* The MIME type of a figure, by how its path ends; NULL: it is none that viewers know, or not in `directory`.
 */
const char *hc_figure_mime(const char *directory, const char *path);

#endif
