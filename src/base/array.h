/* array.h - arrays that grow by one element at a time. */
#ifndef HC_BASE_ARRAY_H
#define HC_BASE_ARRAY_H

#include <stddef.h>

/* Make room for one more element of `size` bytes behind the `count` elements of `array` (NULL: none), which
 * nothing but this function has allocated; elements may have been taken off its end since. The room doubles
 * whenever `count` is a power of two, so that the elements are seldom copied. Returns the array, which may
 * have moved; NULL: no memory, and `array` is as it was. */
void *hc_array_grow(void *array, size_t count, size_t size);

#endif
