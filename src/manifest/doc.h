/* doc.h - build a JSON document member by member; that memory ran out is asked once, at its end. */
#ifndef HC_MANIFEST_DOC_H
#define HC_MANIFEST_DOC_H

#include "json/json.h"

struct hc_doc {
    bool ok; /* false: memory ran out, and a member is missing */
};

/* Add `item`, which `to` then owns, as its member `name`, or, if `name` is NULL, as an element of a list.
 * `to` or `item` is NULL if an earlier step ran out of memory. Returns the item, borrowed; NULL: it was
 * freed. */
cJSON *hc_doc_item(struct hc_doc *d, cJSON *to, const char *name, cJSON *item);

/* Add an empty object or list, which is returned, borrowed. */
cJSON *hc_doc_object(struct hc_doc *d, cJSON *to, const char *name);
cJSON *hc_doc_list(struct hc_doc *d, cJSON *to, const char *name);

void hc_doc_number(struct hc_doc *d, cJSON *to, const char *name, double value);
void hc_doc_bool(struct hc_doc *d, cJSON *to, const char *name, bool value);
void hc_doc_null(struct hc_doc *d, cJSON *to, const char *name);
void hc_doc_known(struct hc_doc *d, cJSON *to, const char *name, int64_t value); /* negative: null */
void hc_doc_seconds(struct hc_doc *d, cJSON *to, const char *name, int64_t us);  /* negative: null */

/* Add text. Bytes that are not UTF-8 become U+FFFD, and so does a NUL, at which many readers would end the
 * text. */
void hc_doc_bytes(struct hc_doc *d, cJSON *to, const char *name, const char *bytes, size_t len);
void hc_doc_text(struct hc_doc *d, cJSON *to, const char *name, const char *text);
void hc_doc_text_or_null(struct hc_doc *d, cJSON *to, const char *name, const char *text); /* empty: null */

/* Add the name of a file, which may have any bytes (hc_name_print). Returns true if it had to be escaped. */
bool hc_doc_name(struct hc_doc *d, cJSON *to, const char *member, const char *name);
/* Add "path", and "escaped" if the path had to be escaped. */
void hc_doc_path(struct hc_doc *d, cJSON *to, const char *path);

#endif
