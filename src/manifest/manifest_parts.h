/* manifest_parts.h - private to manifest.c and manifest_text.c. */
#ifndef HC_MANIFEST_MANIFEST_PARTS_H
#define HC_MANIFEST_MANIFEST_PARTS_H

#include "manifest/doc.h"
#include "manifest/manifest.h"

/* Build the manifest's document without its signature; owned by the caller. NULL: no memory. (manifest.c) */
cJSON *hc_manifest_document(const struct hc_manifest *m);

#endif
