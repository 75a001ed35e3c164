# Looks for programs of networks, and has bash connect.
# group: network
# held: network_namespace network
# status: ok error
# outside: REACHED
for tool in curl wget nc ncat telnet ssh ip ping socat ftp; do
    command -v "$tool" >/dev/null && echo "REACHED $tool"
done
(exec 3<>/dev/tcp/127.0.0.1/@PORT@) 2>/dev/null && echo REACHED
true
