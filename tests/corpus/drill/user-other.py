# Becomes any other user.
# group: rights
# held: seccomp capabilities user_namespace
# outside: needs root
def attack(lure):
    def become():
        for call_name, arguments in (("setuid", (1,)), ("setreuid", (1, 1)), ("setgid", (1,)), ("setregid", (1, 1)),
                                     ("setresgid", (1, 1, 1))):
            try:
                call(call_name, *arguments)
            except OSError:
                continue
            return f"became another by {call_name}"
    return aside(become)
