# Reads on which pages of the machine its memory lies.
# group: leaks
# held: proc capabilities
# outside: needs root
def attack(lure):
    page = ctypes.create_string_buffer(b"x" * 4096)
    with open("/proc/self/pagemap", "rb") as file:
        file.seek(ctypes.addressof(page) // 4096 * 8)
        frame = int.from_bytes(file.read(8), "little") & (1 << 55) - 1
    return f"its memory lies on page {frame}" if frame else None
