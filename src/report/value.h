/* value.h - what a program says is its value: text, JSON, tables and pictures, made into markup of ours. */
#ifndef HC_REPORT_VALUE_H
#define HC_REPORT_VALUE_H

#include "spec/json.h"

/* Text in a box, of which no more than `max` bytes are shown. */
void hc_value_put_text(struct hc_buf *out, const char *text, size_t max);

/* A node as indented JSON, or, if it is a list of rows, as a table. */
void hc_value_put_json(struct hc_buf *out, const struct hc_json *j, const cJSON *node);

/* A value by MIME types. `room`: of pictures, see image.h. */
void hc_value_put_bundle(struct hc_buf *out, const struct hc_json *j, const cJSON *bundle, size_t *room);

#endif
