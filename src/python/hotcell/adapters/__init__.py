"""Drop-in replacements of older executors: same signatures, same results, same messages; the code runs in cells."""
