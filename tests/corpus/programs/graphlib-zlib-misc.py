# graphlib, colorsys, sched, gettext, numbers, keyword, token.
import colorsys
import gettext
import graphlib
import keyword
import numbers
import sched
import tokenize
import io
print(list(graphlib.TopologicalSorter({"d": {"b", "c"}, "b": {"a"}, "c": {"a"}}).static_order())[0], colorsys.rgb_to_hsv(1, 0.5, 0), gettext.gettext("hi"))
try:
    graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
except graphlib.CycleError as error:
    print(error.args[0])
print(keyword.iskeyword("class"), isinstance(1.5, numbers.Real), [t.string for t in tokenize.generate_tokens(io.StringIO("x = 1 # c").readline)][:4])
order = []
scheduler = sched.scheduler()
scheduler.enter(0, 2, order.append, ("second",))
scheduler.enter(0, 1, order.append, ("first",))
scheduler.run()
print(order)
