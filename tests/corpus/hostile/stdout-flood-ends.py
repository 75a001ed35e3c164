# Prints more than it may, where that ends the job.
# group: stdout
# held: launcher
# status: output
# options: --stdout-size=4K --overflow=end
# manifest: truncated stdout
while True:
    print("x" * 100)
