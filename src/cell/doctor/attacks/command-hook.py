# Has git run a hook of a repository of its own.
# group: files
# held: landlock mount_flags
def attack(lure):
    return commands("""
        cd /tmp && mkdir "hotcell-drill-$$" && cd "hotcell-drill-$$" || exit
        git init -q . && mkdir -p .git/hooks && export HOME=$PWD
        printf "#!/bin/sh\\necho ran a hook >&3\\n" > .git/hooks/pre-commit && chmod 755 .git/hooks/pre-commit
        git -c user.name=a -c user.email=b commit -q --allow-empty -m first 3>&1 > /dev/null
        cd .. && rm -rf "hotcell-drill-$$" """)
