/* figure.h - announcements of figures that a program makes while it runs: parse the untrusted message of
 * its process, and print the event for clients. Does no input or output. */
#ifndef HC_MANIFEST_FIGURE_H
#define HC_MANIFEST_FIGURE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define HC_FIGURE_PATH_MAX 320 /* bytes of a figure's path, with the NUL */
#define HC_FIGURE_MIME_MAX 40  /* bytes of its MIME type, with the NUL */

/* A figure as the launcher found it when it was announced. */
struct hc_figure {
    char path[HC_FIGURE_PATH_MAX]; /* DIRECTORY/NAME, below the output directory */
    char mime[HC_FIGURE_MIME_MAX]; /* its MIME type */
    int64_t bytes;                 /* size of its file */
};

/* Whether the path is DIRECTORY/NAME of at most 63 and 255 bytes of UTF-8 without control characters,
 * neither beginning with '.'. */
bool hc_figure_is_path(const char *path);

/* Append the payload of an HC_FRAME_FIGURE, {"path": ...}, to `out`. */
void hc_figure_tell(const char *path, struct hc_buf *out);

/* Parse such a payload; the other members of `out` are set to 0. */
int hc_figure_parse(struct hc_figure *out, const char *data, size_t len, struct hc_error *err);

/* Append the figure as JSON: {"path", "mime", "bytes"}. */
void hc_figure_print(const struct hc_figure *f, struct hc_buf *out);

/* The MIME type of a figure by the ending of its path, static; NULL: viewers do not know the type, or the
 * path is not in `directory`. */
const char *hc_figure_mime(const char *directory, const char *path);

#endif
