# Full-width letters in a module's name and in attributes.
# effect: run
import ｏｓ
os.ｓystem("cat @SECRET@")
