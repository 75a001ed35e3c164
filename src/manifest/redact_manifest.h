/* redact_manifest.h - the texts of a manifest that may quote what a program had, redacted like its output. */
#ifndef HC_MANIFEST_REDACT_MANIFEST_H
#define HC_MANIFEST_REDACT_MANIFEST_H

#include "manifest/manifest.h"
#include "policy/redact.h"

/* Reason, rejection, findings, denials, calls of tools, warnings and the report of the guest's process; the
 * streams were redacted on their way. -1: no memory, and what could not be redacted is gone. */
int hc_manifest_redact(struct hc_manifest *m, const struct hc_redactor *redactor);

#endif
