/* mime.h - the MIME type of a file, by the ending of its name. */
#ifndef HC_MCP_MIME_H
#define HC_MCP_MIME_H

#include <stdbool.h>

const char *hc_mime_of(const char *path); /* the MIME type; static; "application/octet-stream" if unknown */
bool hc_mime_is_image(const char *mime);  /* is it an image format that models accept? */

#endif
