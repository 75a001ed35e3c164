# Never ends.
# group: resources
# held: launcher
# status: timeout
# options: --timeout=0.3 --grace=0
while True:
    pass
