/* owner.h - from a member to the struct that it is in. */
#ifndef HC_BASE_OWNER_H
#define HC_BASE_OWNER_H

#include <stddef.h>

/* The struct of this type whose member `member` is at `member_ptr`. */
#define hc_owner(member_ptr, type, member) ((type *)(void *)((char *)(member_ptr)-offsetof(type, member)))

#endif
