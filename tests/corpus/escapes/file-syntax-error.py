# A traceback's summary shows the line of any file and number.
# effect: read
import traceback
print(traceback.StackSummary.from_list([traceback.FrameSummary("@SECRET@", 1, "x")]).format())
