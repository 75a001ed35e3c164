/* zygote.h - a cell that makes cells. */
#ifndef HC_SHIM_ZYGOTE_H
#define HC_SHIM_ZYGOTE_H

#include "wire/handover.h"

/* Start an interpreter, import what the policy names, say HC_FRAME_READY, and then make a cell of a copy of
 * this process for each request (inside/park.h), until the launcher hangs up. */
_Noreturn void hc_zygote_run(struct hc_handover *own);

#endif
