# Through the process's own root in /proc.
# effect: read
print(open("/proc/self/root@SECRET@").read())
