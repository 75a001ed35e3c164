# The environment as the kernel shows it.
# effect: env
print(open("/proc/self/environ").read().replace("\0", "\n"))
