# Kills all that it may kill.
# group: ending
# held: pid_namespace launcher
# status: killed error
# options: --timeout=5
# alone: it would end the tests
kill -9 -1
sleep 30
