# Sudoku by backtracking, hanoi, permutations by hand, memoised recursion.
import functools
puzzle = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"
def solve(board):
    if "0" not in board:
        return board
    i = board.index("0")
    r, c = divmod(i, 9)
    used = {board[j] for j in range(81) if j // 9 == r or j % 9 == c or (j // 27 == i // 27 and j % 9 // 3 == c // 3)}
    for d in "123456789":
        if d not in used and (done := solve(board[:i] + d + board[i + 1:])):
            return done
    return None
answer = solve(puzzle)
print(answer[:27], len(answer))
def hanoi(n, a="A", b="B", c="C"):
    return [] if n == 0 else hanoi(n - 1, a, c, b) + [(a, c)] + hanoi(n - 1, b, a, c)
print(len(hanoi(6)), hanoi(2))
@functools.cache
def ways(amount, coins=(1, 5, 10, 25)):
    return 1 if amount == 0 else 0 if amount < 0 or not coins else ways(amount, coins[1:]) + ways(amount - coins[0], coins)
print(ways(100), ways.cache_info().currsize > 0)
@functools.lru_cache
def lcs(a, b):
    if not a or not b:
        return ""
    return a[0] + lcs(a[1:], b[1:]) if a[0] == b[0] else max(lcs(a[1:], b), lcs(a, b[1:]), key=len)
print(lcs("AGGTAB", "GXTXAYB"))
