/* json.h - parse strict JSON into a tree of cJSON nodes, and know the position of each node.
 *
 * The tree is cJSON's, the parser is not: scan.h takes UTF-8 only, no duplicate keys, nothing after the
 * document and no deep nesting, and knows for every node where it stands, so that an error reads
 * "policy.json:7:15: limits.memory: expected a size such as \"512M\", got a list". */
#ifndef HC_JSON_JSON_H
#define HC_JSON_JSON_H

#include "base/buf.h"
#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct hc_json {
    cJSON *root;           /* the tree; owned */
    const char *name;      /* file name for messages; borrowed */
    const char *text;      /* the text that was parsed; borrowed; must outlive the document */
    size_t len;            /* bytes of `text` */
    struct hc_node *nodes; /* place of each value in the text, in the text's order (scan.h); owned */
    size_t count;          /* number of `nodes` */
};

#define HC_JSON_DEPTH  64      /* deepest nesting that is accepted */
#define HC_JSON_VALUES 2000000 /* most values in one document, whose memory a hostile text could fill */

/* Parse `text`. Errors: HC_EXIT_DATA with "name:line:column: what was expected". */
int hc_json_parse(struct hc_json *out, const char *name, const char *text, size_t len, struct hc_error *err);
void hc_json_finish(struct hc_json *j);

/* Returns the tree, which the caller frees with cJSON_Delete, and finishes the document. */
cJSON *hc_json_take(struct hc_json *j);

/* Fail about a node of this document: "name:line:column: " and the message. For a member of an object the
 * position is its key's when `at_key`, else its value's. Uses HC_EXIT_DATA; see hc_exit_as. */
int hc_json_fail(const struct hc_json *j, const cJSON *node, bool at_key, struct hc_error *err,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The text of a node as it was written, of *len bytes: numbers keep all their digits. Points into the
 * document; NULL if the node is NULL or not part of it. */
const char *hc_json_source(const struct hc_json *j, const cJSON *node, size_t *len);

/* ---- members of an object; NULL, and a value that is no object, have no members ---- */

const cJSON *hc_json_member(const cJSON *object, const char *name); /* NULL: no such member */

/* The member's text, or "" or `otherwise` if it is no string. */
const char *hc_json_text(const cJSON *object, const char *name);
const char *hc_json_text_or(const cJSON *object, const char *name, const char *otherwise);

/* The whole part of the member's number; `otherwise` if the member is no number, or one of 9e15 or more
 * either way, which a double may not hold exactly. */
int64_t hc_json_int(const cJSON *object, const char *name, int64_t otherwise);

bool hc_json_is_true(const cJSON *object, const char *name); /* is the member true? */

/* ---- */

/* What a node is, for messages: "a string", "a list", "null"... */
const char *hc_json_kind(const cJSON *node);

/* Append to `out` the canonical form of a JSON text (which must be valid for hc_json_parse): no blanks,
 * members sorted by the bytes of their decoded keys, strings with the shortest escapes, numbers exactly as
 * written. The top-level member named `without` is left out (NULL: none). */
int hc_json_canonical(const char *text, size_t len, const char *without, struct hc_buf *out,
                      struct hc_error *err);

/* Append to `out` the same document, two blanks per level, one member or element per line, numbers and
 * strings as written. Each member of the top-level member named `brief` has one line, however deep its value
 * is (NULL: none): a guest that nests values could otherwise make the indentation many times as large as its
 * own text. */
int hc_json_indent(const char *text, size_t len, const char *brief, struct hc_buf *out, struct hc_error *err);

/* Append `text`, which is UTF-8, as a JSON string, quotes included. */
void hc_json_quote(struct hc_buf *out, const char *text, size_t len);

/* Append an object, on one line, and free it. -1: out of memory; `name` says in the error what is made. */
int hc_json_print(struct hc_buf *out, cJSON *object_taken, const char *name, struct hc_error *err);

#endif
