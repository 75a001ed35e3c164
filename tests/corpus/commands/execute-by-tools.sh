# Has find, xargs, env, awk, tar and a shell execute a program that it has written.
# group: files
# held: landlock mount_flags
# status: ok error
# outside: REACHED
cd "${TMPDIR:-.}" && printf '#!/bin/sh\necho REACHED\n' > own && chmod 755 own && echo own > list
find . -name own -exec ./own \;
xargs -I{} ./{} < list
env ./own
awk 'BEGIN { system("./own") }'
tar cf own.tar own && tar xf own.tar --to-command=./own
PATH=$PWD:$PATH sh -c own
timeout 5 ./own
nohup ./own </dev/null
exec ./own
