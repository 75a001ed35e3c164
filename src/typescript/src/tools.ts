/** Functions of this process that a program in a cell may call: hotcelld(8), TOOLS. */

import type { components } from "./api.js";
import { NotFound, Problem, UsageError } from "./errors.js";
import { stringify } from "./json.js";
import { ask, type Place } from "./transport.js";

export type ToolCall = components["schemas"]["ToolCallEvent"];

/** A tool: what a program is told of it, and what answers its calls. Sizes and times as in hotcell-policy(5). */
export interface Tool {
    description?: string;
    /** The JSON schema of the arguments, an object; calls that do not fit it do not come here. */
    parameters?: Readonly<Record<string, unknown>>;
    /** Calls of one job. */
    calls?: number;
    rate?: number | string;
    timeout?: number | string;
    argumentSize?: number | string;
    resultSize?: number | string;
    /**
     * Answers a call: what it returns, or the promise of it, has to be JSON; undefined is null. What it throws is the program's
     * ToolError. Calls are answered side by side. The signal is aborted when nobody waits for the answers any more.
     */
    call(args: any, context: { signal: AbortSignal }): unknown;
}

export type Tools = Readonly<Record<string, Tool>>;

/** The tools as a request has them. */
export function describedTools(tools: Tools): Record<string, object> {
    return Object.fromEntries(Object.entries(tools).map(([name, tool]) => {
        if (typeof tool.call !== "function") {
            throw new UsageError(`tools: ${name}: expected a function "call"`);
        }
        const { call: _, argumentSize, resultSize, ...rest } = tool;
        const all = { ...rest, argument_size: argumentSize, result_size: resultSize };
        return [name, Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))];
    }));
}

/** Answers the calls of one job or run. */
export class Answerer {
    /** What tools have thrown; the program got the texts alone. */
    readonly errors: unknown[] = [];
    private readonly ended = new AbortController();
    private readonly running = new Set<Promise<void>>();

    constructor(private readonly place: Place, private readonly path: () => string, private readonly tools: Tools) {}

    /** Begin to answer a call; one of another tool is left to somebody else. `fail` is called if the answer cannot be sent. */
    take(call: ToolCall, fail: (error: unknown) => void): void {
        const tool = Object.hasOwn(this.tools, call.name) ? this.tools[call.name] : undefined;
        if (!tool) {
            return;
        }
        const answered: Promise<void> = this.answer(tool, call).catch(fail).finally(() => this.running.delete(answered));
        this.running.add(answered);
    }

    /** Nobody waits for the answers any more. */
    end(): void {
        this.ended.abort();
    }

    private async answer(tool: Tool, call: ToolCall): Promise<void> {
        const answer = await this.outcome(tool, call);
        try {
            await this.post(call.id, answer);
        } catch (error) {
            if (!(error instanceof Problem)) {
                throw error;
            }
            if (!(error instanceof NotFound)) { // the daemon refuses this answer: the call fails, and not the job
                await this.post(call.id, failureOf(error)).catch(ignoreProblem);
            }
        }
    }

    /** The answer as JSON. */
    private async outcome(tool: Tool, call: ToolCall): Promise<string> {
        try {
            const value: unknown = (await tool.call(call.arguments, { signal: this.ended.signal })) ?? null;
            const text = stringify(value);
            const size = Buffer.byteLength(text);
            if (size > call.result_size) {
                throw new RangeError(`the result has ${size} bytes, and result_size is ${call.result_size}`);
            }
            return `{"value": ${text}}`;
        } catch (error) {
            this.errors.push(error);
            return failureOf(error);
        }
    }

    private async post(id: number, body: string): Promise<void> {
        if (!this.ended.signal.aborted) {
            await ask(this.place, { method: "POST", path: `${this.path()}/tools/${id}`, body });
        }
    }
}

function failureOf(error: unknown): string {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return stringify({ error: text.slice(0, 2_000).replaceAll("\0", "\\0") || "Error" });
}

function ignoreProblem(error: unknown): void {
    if (!(error instanceof Problem)) {
        throw error;
    }
}
