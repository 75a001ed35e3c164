"""Drop-in replacements for older executors, with the same signatures, results and messages, that run the code in cells.

    from hotcell.adapters import AsyncCodeExecutor      # charts: one figure as base64, output redacted
    from hotcell.adapters import ScriptExecutor         # statistics over one data frame, results collected
    from hotcell.adapters import RunPython              # code of a model that uses tools, last value returned

The portal's child runner is hotcell.runner.

Sandboxes and executors of frameworks for agents are modules of their own, which need no framework to be imported: inspect_ai,
deepagents, openai_agents, smolagents, langgraph_codeact, llama_index, autogen, google_adk, pydantic_ai and pydantic_ai_code.
"""

from .charts import DEFAULT_EXEC_TIMEOUT, AsyncCodeExecutor
from .notebook import RunPython
from .statistics import ScriptConfig, ScriptExecutor

__all__ = ["DEFAULT_EXEC_TIMEOUT", "AsyncCodeExecutor", "RunPython", "ScriptConfig", "ScriptExecutor"]
