# Leaves links to files of the host, pipes and names with controls in its results.
# group: output
# held: landlock launcher
# status: ok error
# manifest: no-controls; at-most 2
# alone: it is what comes out that counts
ln -s @FILE@ link; ln @FILE@ hard; mkfifo pipe; ln -s /etc/passwd passwd
mkdir sub && ln -s / sub/root
printf x > "$(printf 'a\033]0;x\007b')"
printf x > plain
