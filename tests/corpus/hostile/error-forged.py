# Fails with the failure that a limit would raise.
# group: stdout
# held: launcher
# status: error
raise TimeoutError("limits.timeout: 60s")
