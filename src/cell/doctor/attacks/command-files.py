# Has programs read a file of the host: by its path, by a link, and by an archive.
# group: files
# held: mount_namespace
def attack(lure):
    return commands("""
        cd /tmp || exit
        cat "$1"
        ln -s "$1" "hotcell-drill-$$" && cat "hotcell-drill-$$"
        rm -f "hotcell-drill-$$"
        tar -cf - "$1" | tar -xOf -
        """, lure["file"])
