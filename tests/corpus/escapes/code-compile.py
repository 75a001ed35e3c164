# compile and exec.
# effect: run
exec(compile("import os\nos.system('cat @SECRET@')", "<string>", "exec"))
