# heapq, bisect, array, queue: algorithms.
import array
import bisect
import heapq
import queue
heap = [5, 2, 8, 1]
heapq.heapify(heap)
heapq.heappush(heap, 0)
print([heapq.heappop(heap) for _ in range(5)], heapq.nlargest(2, [3, 9, 4]), heapq.nsmallest(2, "hello"), list(heapq.merge([1, 4], [2, 3])))
def dijkstra(graph, start):
    distance, waiting = {start: 0}, [(0, start)]
    while waiting:
        d, node = heapq.heappop(waiting)
        for neighbour, cost in graph[node].items():
            if d + cost < distance.get(neighbour, float("inf")):
                distance[neighbour] = d + cost
                heapq.heappush(waiting, (d + cost, neighbour))
    return distance
print(dijkstra({"a": {"b": 1, "c": 4}, "b": {"c": 2, "d": 5}, "c": {"d": 1}, "d": {}}, "a"))
grades = [60, 70, 80, 90]
print(["FDCBA"[bisect.bisect(grades, score)] for score in (33, 99, 77, 70, 89, 90)], bisect.bisect_left([1, 2, 2, 3], 2))
items = [1, 5]
bisect.insort(items, 3)
numbers = array.array("d", [1.5, 2.5])
numbers.append(3.5)
print(items, numbers, numbers.tobytes()[:4], sum(numbers), numbers.itemsize)
waiting = queue.PriorityQueue()
for job in ((2, "b"), (1, "a")):
    waiting.put(job)
print(waiting.get(), waiting.qsize(), queue.LifoQueue().empty())
