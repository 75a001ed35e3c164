# Another process's command line in /proc.
# effect: see
print(open("/proc/@VICTIM@/cmdline").read().replace("\0", " "))
