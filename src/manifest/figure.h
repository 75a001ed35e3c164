/* figure.h - announcements of figures that a program makes while it runs: parse the untrusted message of
 * its process, remember the announcements, and print the event for clients. Does no input or output. */
#ifndef HC_MANIFEST_FIGURE_H
#define HC_MANIFEST_FIGURE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

#define HC_FIGURE_PATH_MAX 320 /* bytes of a figure's path, with the NUL */
#define HC_FIGURE_MIME_MAX 40  /* bytes of a figure's MIME type, with the NUL */

#define HC_FIGURES_LISTED 1000 /* most figures of one job that its manifest lists as figures */
#define HC_FIGURE_BEGINS  16   /* bytes at the beginning of a file that are enough to tell its type */

/* A figure as the launcher found it when it was announced. */
struct hc_figure {
    char path[HC_FIGURE_PATH_MAX]; /* path of the file, DIRECTORY/NAME, below the output directory */
    char mime[HC_FIGURE_MIME_MAX]; /* MIME type of the content */
    int64_t bytes;                 /* size of the file */
    char sha256[HC_SHA256_HEX];    /* SHA-256 of the content that was drawn, as the guest's process claims */
};
/* The figures that one job has announced, in the order of their first announcement. */
struct hc_figure_list {
    struct hc_figure *items; /* the figures; owned */
    size_t count;            /* number of `items` */
};

/* Whether the path is DIRECTORY/NAME of at most 63 and 255 bytes of UTF-8 without control characters,
 * neither beginning with '.'. */
bool hc_figure_is_path(const char *path);

/* Append the payload of an HC_FRAME_FIGURE, {"path": ..., "sha256": ...}, to `out`. */
void hc_figure_tell(const char *path, const char *sha256, struct hc_buf *out);

/* Parse such a payload, hostile text; the other members of `out` are set to 0. -1: it is malformed. */
int hc_figure_parse(struct hc_figure *out, const char *data, size_t len, struct hc_error *err);

/* Append the figure as JSON: {"path", "mime", "bytes"}. */
void hc_figure_print(const struct hc_figure *f, struct hc_buf *out);

/* The MIME type of a figure by the ending of its path, static; NULL: viewers do not know the type, or the
 * path is not in `directory`. */
const char *hc_figure_mime(const char *directory, const char *path);

/* Whether a file of this MIME type (one of hc_figure_mime's) can begin with these bytes. */
bool hc_figure_begins(const char *mime, const char *data, size_t len);

/* Remember an announcement; a later announcement of the same path replaces the hash. Beyond
 * HC_FIGURES_LISTED figures, or without memory, the announcement is dropped. */
void hc_figure_list_add(struct hc_figure_list *list, const struct hc_figure *f);

/* The position in the list of the figure with this path and this hash; -1: no such figure was announced. */
int hc_figure_list_find(const struct hc_figure_list *list, const char *path, const char *sha256);

void hc_figure_list_finish(struct hc_figure_list *list);

#endif
