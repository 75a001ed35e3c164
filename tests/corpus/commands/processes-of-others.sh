# Reads the environment, the arguments, the limits and the memory of other processes in /proc.
# group: processes
# held: proc pid_namespace landlock
# status: ok error
# outside: REACHED
for folder in /proc/[0-9]* /proc/self; do
    head -c 1 "$folder/cmdline" "$folder/limits" "$folder/environ" 2>/dev/null | grep -q . && echo REACHED && break
done
