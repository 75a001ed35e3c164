/* zygote.h - runs a zygote: an interpreter that makes new cells out of copies of itself. */
#ifndef HC_SHIM_ZYGOTE_H
#define HC_SHIM_ZYGOTE_H

#include "wire/handover.h"

/* Starts an interpreter, imports the modules that the policy names, sends HC_FRAME_READY, and then makes a
 * cell out of a copy of this process for each request (inside/park.h), until the launcher hangs up. `own` is
 * the zygote's handover; its document is parsed here. */
_Noreturn void hc_zygote_run(struct hc_handover *own);

#endif
