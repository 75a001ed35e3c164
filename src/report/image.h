/* image.h - pictures that a program made, put into a page so that nothing but a picture can come of them. */
#ifndef HC_REPORT_IMAGE_H
#define HC_REPORT_IMAGE_H

#include "base/buf.h"

#define HC_IMAGE_MAX    ((size_t)8 << 20)  /* bytes of one */
#define HC_IMAGES_MAX   ((size_t)48 << 20) /* of all in one page */
#define HC_IMAGE_PIXELS (INT64_C(64) << 20)

/* NULL: these bytes are a picture of this type (image/png, jpeg, gif or svg+xml), of bounded size; otherwise
 * why they are not shown. `width` and `height` are 0 where it does not say. */
const char *hc_image_refusal(const char *mime, const void *data, size_t len, int *width, int *height);

/* An <img>, or a sentence that says why there is none. `room` is what is left of HC_IMAGES_MAX. */
void hc_image_put(struct hc_buf *out, const char *mime, const char *called, const void *data, size_t len,
                  size_t *room);

/* The same of a picture that came in base64. */
void hc_image_put_base64(struct hc_buf *out, const char *mime, const char *called, const char *text,
                         size_t *room);

#endif
