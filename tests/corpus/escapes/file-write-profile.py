# cProfile dumps statistics.
# effect: write
import cProfile
profile = cProfile.Profile()
profile.enable()
profile.disable()
profile.dump_stats("@WRITE@")
