# concurrent.futures with threads.
from concurrent.futures import ThreadPoolExecutor, as_completed
def square(n):
    if n == 3:
        raise ValueError("three")
    return n * n
with ThreadPoolExecutor(max_workers=3) as pool:
    print(list(pool.map(lambda x: x + 1, range(5))))
    futures = {pool.submit(square, n): n for n in range(5)}
    results = {}
    for future in as_completed(futures):
        try:
            results[futures[future]] = future.result()
        except ValueError as error:
            results[futures[future]] = str(error)
print(sorted(results.items()))
