# fileinput.
# effect: read
import fileinput
print(*fileinput.input("@SECRET@"))
