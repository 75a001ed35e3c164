# Formats a number to an enormous width.
# group: resources
# held: launcher cgroup
# status: memory error
# options: --memory=64M
text = f"{1:>{1 << 36}}"
