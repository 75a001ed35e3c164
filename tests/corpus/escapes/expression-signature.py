# inspect.get_annotations(eval_str=True) too.
# effect: run
import inspect
def work(x: "__import__('os').system('cat @SECRET@')"):
    pass
inspect.signature(work, eval_str=True)
