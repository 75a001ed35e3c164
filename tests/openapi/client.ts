/* What a program in TypeScript does with the types that openapi-typescript makes of hotcelld's document. */
import type { components, paths } from "./api.js";

type Schemas = components["schemas"];
type Ended = paths["/v1/jobs"]["post"]["responses"][200]["content"]["application/json"];

export const request: Schemas["Request"] = {
    code: "print(n)",
    vars: { n: 42, rows: [{ a: null }] },
    limits: { timeout: "5s", memory: 268435456, pids: 16 },
    labels: { user: "u1" },
};
export const run: Schemas["Run"] = { code: "1", limits: { timeout: 5 } };

// @ts-expect-error: there is no such limit
export const misspelt: Schemas["Request"] = { code: "1", limits: { timeot: 5 } };
// @ts-expect-error: memory is for a session as a whole
export const notOfRun: Schemas["Run"] = { code: "1", limits: { memory: "1G" } };

export function summary(result: Ended): string {
    const value: unknown = result.guest?.value;
    const paths: string[] = result.figures.map((figure) => figure.path);
    const peak: number | null = result.usage.memory_peak;
    return `${result.status} ${result.stdout.text} ${value} ${paths} ${peak} ${result.rejection?.hint ?? ""}`;
}

export function heard(event: Schemas["Event"]): string | undefined {
    switch (event.event) {
        case "stdout":
        case "stderr":
            return "text" in event ? event.text : atob(event.data);
        case "figure":
            return event.figure.path;
        case "manifest":
            return summary(event.manifest);
        case "problem":
            return event.problem.detail;
        case "state":
            return event.state;
        default:
            return undefined;
    }
}
