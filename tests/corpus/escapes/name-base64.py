# The program is in base64.
# effect: run
import base64
exec(base64.b64decode(b"aW1wb3J0IG9zOyBvcy5zeXN0ZW0o").decode() + "'cat @SECRET@')")
