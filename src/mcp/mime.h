/* mime.h - what a file is, by the ending of its name; and which of these are text for a model to read. */
#ifndef HC_MCP_MIME_H
#define HC_MCP_MIME_H

#include <stdbool.h>

const char *hc_mime_of(const char *path); /* static; "application/octet-stream" if nothing is known */
bool hc_mime_is_image(const char *mime);  /* of the kinds that models look at */

#endif
