# Says that it ran out of memory.
# group: stdout
# held: launcher
# status: error
raise MemoryError("limits.memory: 1G")
