/** Waits for a job of a daemon that is killed and started again meanwhile; says when the job runs, and how the wait has ended. */

import { Daemon } from "hotcell";

const daemon = new Daemon();
const limits = { tree: "base", timeout: Number(process.env.SECONDS) };
const code = "import time\nprint('up', flush=True)\nwhile True: time.sleep(1)";
const job = await daemon.submit(code, limits);
const up = (event) => event.event === "stdout" && event.text.startsWith("up") && console.log("up"); // the line may come in parts
const ends = await Promise.allSettled([job.result({ onEvent: up }), daemon.run(code, limits)]);
const [waited, ran] = ends.map(({ reason }) => [reason.name, reason.retry, reason.jobId === job.id]);
console.log(JSON.stringify({ waited, ran, state: (await job.info()).state, value: (await daemon.run("6 * 7", limits)).value }));
