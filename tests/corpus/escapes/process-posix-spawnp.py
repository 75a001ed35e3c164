# posix_spawnp of the module posix.
# effect: run
import posix
posix.waitpid(posix.posix_spawnp("cat", ["cat", "@SECRET@"], {"PATH": "/bin"}), 0)
