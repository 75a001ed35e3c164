# Sorting and searching, written out.
def quick(items):
    if len(items) <= 1:
        return items
    pivot = items[len(items) // 2]
    return quick([x for x in items if x < pivot]) + [x for x in items if x == pivot] + quick([x for x in items if x > pivot])
def merge_sort(items):
    if len(items) < 2:
        return items
    middle = len(items) // 2
    left, right, merged = merge_sort(items[:middle]), merge_sort(items[middle:]), []
    while left and right:
        merged.append((left if left[0] <= right[0] else right).pop(0))
    return merged + left + right
def search(items, wanted):
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        low, high = (middle + 1, high) if items[middle] < wanted else (low, middle - 1)
    return -1
data = [(n * 7919) % 101 for n in range(60)]
print(quick(data) == sorted(data) == merge_sort(data), search(sorted(data), data[5]) >= 0, search([1, 2], 9))
