# Leaves a process that keeps its output open, so that a reader waits for more.
# group: ending
# held: launcher
# status: ok
# alone: whoever reads its output would wait for it
# manifest: stdout done
sleep 600 &
echo done
