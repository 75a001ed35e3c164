#include "base/array.h"

#include <stdlib.h>

void *hc_array_grow(void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array;
    return reallocarray(array, count ? 2 * count : 1, size);
}
