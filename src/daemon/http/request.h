/* request.h - what a request says: the lines of its head, its path, and one member of its body. Bytes only.
 */
#ifndef HC_DAEMON_HTTP_REQUEST_H
#define HC_DAEMON_HTTP_REQUEST_H

#include "json/json.h"

#include <stdbool.h>

/* The lines of one head, as they are taken. */
struct hc_head {
    unsigned seen; /* bits: which of the lines that may stand only once there were so far */
    const char
        *next; /* where the next line's name is, if nothing but ends of lines is in between; NULL: unknown */
};

/* Texts that follow each other in the memory in which the head came, with zero bytes for the ends of lines,
 * as libmicrohttpd before 0.9.77 leaves them: what is not there, a zero byte has cut off a text, or a line
 * has that goes on with the next one. `version` is the first line's last word, `behind_target` the byte
 * behind the end of the text before it. -1: so it is there already. */
int hc_head_begin(struct hc_head *h, const char *behind_target, const char *version, struct hc_error *err);

/* The next line. -1: no line that means the same to every reader, such as a server that passes requests on
 * and this one: then where the request ends is not certain either. */
int hc_head_take(struct hc_head *h, const char *name, const char *value, struct hc_error *err);

/* There were all that a request of this version ("HTTP/1.1") has to have, and nothing else; `end`: the byte
 * behind the head, NULL if unknown. */
int hc_head_end(const struct hc_head *h, const char *version, const char *end, struct hc_error *err);

/* One of a line's comma-separated words, parameters left aside. `list` may be NULL. */
bool hc_has_word(const char *list, const char *word);

/* What stands in a path for "{id}" and "{rest}" of a pattern; NULL: it has none. */
struct hc_path_parts {
    const char *id, *rest;
    size_t id_len;
};

/* Is the path one of this pattern? Piece by piece; "{rest}" is all that follows, and not empty. */
bool hc_path_fits(const char *pattern, const char *path, struct hc_path_parts *out);

/* The source of an object, or of its only member, called `member`; in the text that was parsed. NULL: it is
 * something else. */
const char *hc_request_member(const struct hc_json *body, const char *member, size_t *len,
                              struct hc_error *err);

#endif
