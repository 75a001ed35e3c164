# io.open_code opens without a mode.
# effect: read
import io
print(io.open_code("@SECRET@").read())
