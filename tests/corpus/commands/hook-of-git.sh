# Has git execute a program that stands in the repository.
# group: files
# held: landlock mount_flags
# status: ok error
# outside: REACHED
git init -q hooked && cd hooked && git config user.email a@b.c && git config user.name n && mkdir -p .git/hooks
printf '#!/bin/sh\necho REACHED\n' > .git/hooks/pre-commit && chmod 755 .git/hooks/pre-commit
echo a > a && git add a && git commit -qm first 2>&1
