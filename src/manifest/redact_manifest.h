/* redact_manifest.h - redact the texts of a manifest that may quote a program's data, like its output. */
#ifndef HC_MANIFEST_REDACT_MANIFEST_H
#define HC_MANIFEST_REDACT_MANIFEST_H

#include "manifest/manifest.h"
#include "policy/redact.h"

/* Redact reason, rejection, findings, denials, calls of tools, warnings and the guest's report; output
 * streams are redacted before. -1: no memory; the texts that could not be redacted are removed. */
int hc_manifest_redact(struct hc_manifest *m, const struct hc_redactor *redactor);

#endif
