/* init_image.h - finds the program that pid 1 of a cell made by a zygote executes. */
#ifndef HC_SHIM_INIT_IMAGE_H
#define HC_SHIM_INIT_IMAGE_H

#include "base/error.h"

/* Opens a descriptor for execveat(2), owned by the caller: of a small program in memory (init_start.c) or,
 * where the host forbids to execute memory, of the shim itself, which takes the same arguments. -1: neither
 * can be opened. */
int hc_init_image(struct hc_error *err);

#endif
