/* init_image.h - what a zygote's cell executes to have its first process. */
#ifndef HC_SHIM_INIT_IMAGE_H
#define HC_SHIM_INIT_IMAGE_H

#include "base/error.h"

/* A descriptor for execveat: of a small program in memory (init_start.c), or, where memory cannot be
 * executed, of the shim itself, which takes the same arguments. */
int hc_init_image(struct hc_error *err);

#endif
