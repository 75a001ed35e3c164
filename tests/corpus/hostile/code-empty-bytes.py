# Is almost nothing, and ends at once.
# group: ending
# held: launcher
# status: ok
# manifest: files 0
