/** What a program in TypeScript does with the package: it is compiled, and not run. */

import { Daemon, Problem, type Input, type JobEvent, type Tool } from "hotcell";

const double: Tool = { parameters: { type: "object" }, call: ({ n }: { n: number }) => 2 * n };
const sales: Input = { file: "sales.csv", content: "a,b\n" };

export async function use(daemon: Daemon, signal: AbortSignal): Promise<string> {
    const result = await daemon.run("tools.double(n=1)", { policy: "default", limits: { timeout: "5s", pids: 16 }, inputs: { sales }, tools: { double }, signal });
    const peak: number | null = result.usage.memory_peak;
    const job = await daemon.submit(["ls", "-l"], { key: "once" });
    for await (const event of job.events({ signal })) {
        heard(event);
    }
    const session = await daemon.sessions.create({ vars: { x: 1 } });
    const run = await session.run("x", { limits: { timeout: 5 }, onInput: () => null });
    const content: Uint8Array = await session.files.read("f");
    return `${result.value} ${peak} ${run.state} ${content.length} ${result.error?.message ?? ""}`;
}

function heard(event: JobEvent): string | undefined {
    switch (event.event) {
        case "stdout":
            return "text" in event ? event.text : event.data;
        case "manifest":
            return event.manifest.status;
        default:
            return undefined;
    }
}

export function safe(error: unknown): boolean {
    return error instanceof Problem && error.retry === "not_started";
}

export async function wrong(daemon: Daemon): Promise<void> {
    // @ts-expect-error: there is no such option
    await daemon.run("1", { timeot: 1 });
    // @ts-expect-error: there is no such limit
    await daemon.run("1", { limits: { timeot: 1 } });
    // @ts-expect-error: a program is text or a list of texts
    await daemon.run(1);
}
