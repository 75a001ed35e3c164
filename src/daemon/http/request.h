/* request.h - reading a request: the lines of its head, its path, and one member of its body. Does no input
 * or output.
 */
#ifndef HC_DAEMON_HTTP_REQUEST_H
#define HC_DAEMON_HTTP_REQUEST_H

#include "json/json.h"

#include <stdbool.h>
#include <stdint.h>

/* The check of the lines of one head, which are taken one by one. */
struct hc_head {
    unsigned seen;    /* a bit for each of the unique lines (request.c) that has come */
    const char *next; /* where the next name begins if only line breaks come before it; NULL: unknown */
};

/* Begin to check that no bytes of the head are missing between its texts. libmicrohttpd before 0.9.77 leaves
 * the texts of a head in the memory in which they came, with zero bytes for line breaks. So a gap between two
 * texts means that a zero byte has cut a text off, or that a line goes on in the next one. `version` is the
 * first line's last word, `behind_target` the byte behind the text before it. -1: there is such a gap between
 * these two. */
int hc_head_begin(struct hc_head *h, const char *behind_target, const char *version, struct hc_error *err);

/* Check the next line. -1: other servers, such as a proxy, may read the line differently; then it is not
 * certain where the request ends. */
int hc_head_take(struct hc_head *h, const char *name, const char *value, struct hc_error *err);

/* Check that the head had all lines that a request of this version ("HTTP/1.1") must have, and that its last
 * line ends at `end`, the byte behind the head (NULL: unknown). */
int hc_head_end(const struct hc_head *h, const char *version, const char *end, struct hc_error *err);

/* Is `word` one of the comma-separated words of a line? Parameters of the words are ignored. `list` may be
 * NULL. */
bool hc_has_word(const char *list, const char *word);

/* Read a header Range ("bytes=0-99", "bytes=100-", "bytes=-100") that asks for a part of a file of `size`
 * bytes: `first` gets the offset of the part's first byte, `len` its bytes. HC_RANGE_ALL: the header is NULL,
 * asks for several parts, or is malformed; a server may send the whole file then. HC_RANGE_NONE: the file has
 * no such bytes. */
enum hc_range { HC_RANGE_ALL, HC_RANGE_PART, HC_RANGE_NONE };
enum hc_range hc_range_read(const char *header, uint64_t size, uint64_t *first, uint64_t *len);

/* The parts of a path that stand for "{id}", "{command}" or "{context}", and "{rest}" of a pattern; NULL: the
 * pattern does not have it. */
struct hc_path_parts {
    const char *id, *part, *rest; /* the first two are not NUL-terminated; all point into the path */
    size_t id_len, part_len;      /* bytes of `id`; of `part` */
};

/* Does the path fit the pattern, piece by piece? "{rest}" stands for all remaining pieces, at least one. */
bool hc_path_fits(const char *pattern, const char *path, struct hc_path_parts *out);

/* The JSON text of the body, which must be an object; or, unless `member` is NULL, of the body's only member,
 * which must have that name. `len` gets its bytes; it points into the text that was parsed. NULL: the body is
 * something else (err). */
const char *hc_request_member(const struct hc_json *body, const char *member, size_t *len,
                              struct hc_error *err);

#endif
