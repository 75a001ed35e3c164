# Has bash connect to a port of the host.
# group: network
# held: network_namespace network
def attack(lure):
    return commands('(exec 3<> "/dev/tcp/127.0.0.1/$1") && echo "connected to a port of the host"', lure["port"])
