/** A client of hotcelld, which runs Python programs and commands in cells: hotcelld(8). */

export type { components, operations, paths } from "./api.js";
export { NdArray, type ArrayData } from "./arrays.js";
export { Daemon, type DaemonOptions } from "./daemon.js";
export {
    AuthProblem, DaemonLost, DaemonUnavailable, HotcellError, InputError, InputProblem, LaunchProblem, MalformedValue, NotFound, PolicyProblem, Problem,
    QuotaProblem, SessionEnded, TamperedError, UsageError, type ExceededLimit, type Manifest, type ProblemDocument, type Retry,
} from "./errors.js";
export { JobEvents, type EventsOptions, type JobEvent, type SessionEvent } from "./events.js";
export type { Content, Input, Inputs, JobOptions, Program, RunOptions, SessionOptions } from "./inputs.js";
export { Job, type JobInfo, type WaitOptions } from "./job.js";
export { Figure, File, JobError, Repr, Result, type GuestError, type Stream } from "./results.js";
export { Context, Run, Session, SessionFiles, Sessions, type SessionFile, type SessionInfo, type SessionRunOptions } from "./session.js";
export type { Tool, ToolCall, Tools } from "./tools.js";
export { Frame, PythonValue, Series } from "./values.js";
