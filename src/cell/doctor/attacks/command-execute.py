# Has a shell run programs that it wrote, by name, by the dynamic loader, by a descriptor, and by find.
# group: files
# held: landlock mount_flags
def attack(lure):
    return commands("""
        for folder in /tmp /output "$PWD" /dev/shm; do
            own=$folder/hotcell-drill-$$
            cp /bin/echo "$own" && chmod 4755 "$own" || continue
            loader=$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 | head -n 1)
            "$own" "ran a program in $folder"
            "$loader" "$own" "ran a program in $folder by the loader"
            find "$own" -exec {} "ran a program in $folder by find" ";"
            { /proc/self/fd/7 "ran a program in $folder by a descriptor"; } 7< "$own"
            rm -f "$own"
        done""")
