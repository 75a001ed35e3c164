"""Drop-in replacements for older executors, with the same signatures, results and messages, that run the code in cells.

    from hotcell.adapters import AsyncCodeExecutor      # charts: one figure as base64, output redacted
    from hotcell.adapters import ScriptExecutor         # statistics over one data frame, results collected
    from hotcell.adapters import RunPython              # code of a model that uses tools, last value returned

The portal's child runner is hotcell.runner.
"""

from .charts import DEFAULT_EXEC_TIMEOUT, AsyncCodeExecutor
from .notebook import RunPython
from .statistics import ScriptConfig, ScriptExecutor

__all__ = ["DEFAULT_EXEC_TIMEOUT", "AsyncCodeExecutor", "RunPython", "ScriptConfig", "ScriptExecutor"]
