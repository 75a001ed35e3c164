# Raises its limits.
# group: resources
# held: rlimits
# status: ok error
# alone: the limits of the host are others
for limit in c f n s u v; do
    before=$(ulimit -H"$limit")
    test "$before" = unlimited && continue
    ulimit -H"$limit" $((before + 1)) 2>/dev/null && echo "REACHED $limit"
done
true
