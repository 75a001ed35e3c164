// What an assistant's program does with `hotcell mcp`, or with hotcelld over HTTP, by the client library that such
// programs use; test_mcp_client.py and test_mcp_http.py look at what is printed: one JSON object.
//
//     node client.mjs LIBRARY COMMAND [ARGUMENT]...
//     node client.mjs LIBRARY URL TOKEN
const [library, command, ...args] = process.argv.slice(2);
const { Client } = await import(`${library}/client/index.js`);
const { StdioClientTransport } = await import(`${library}/client/stdio.js`);
const { StreamableHTTPClientTransport } = await import(`${library}/client/streamableHttp.js`);
const { ResourceListChangedNotificationSchema } = await import(`${library}/types.js`);

const client = new Client({ name: "hotcell-test", version: "1" });
const transport = command.startsWith("http:")
    ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers: { Authorization: `Bearer ${args[0]}` } } })
    : new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
const seen = { errors: [], changed: 0, progress: [] };
client.onerror = (error) => seen.errors.push(String(error));
client.setNotificationHandler(ResourceListChangedNotificationSchema, () => { seen.changed += 1; });
await client.connect(transport);

// Arguments are checked by the server; results, by the client against the tool's own schema.
const tool = (name, parameters, options) => client.callTool({ name, arguments: parameters }, undefined, options);
const failure = (promise) => promise.then(() => null, (error) => ({ code: error.code ?? null, message: String(error) }));

seen.version = client.getServerVersion();
seen.capabilities = client.getServerCapabilities();
seen.protocol = transport.protocolVersion ?? null; // the library of spring 2025 does not say
seen.tools = (await client.listTools()).tools;
seen.figure = await tool("run_python", {
    code: "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nopen('table.csv', 'w').write('a,b\\n1,2\\n')\nprint('drawn')\n6 * 7",
});
seen.failed = await tool("run_python", { code: "1 / 0" });
seen.given = await tool("run_python", {
    code: "print(open(first).read(), second.shape, n)",
    files: { "first.txt": "one" }, inputs: { second: "run-1/table.csv" }, vars: { n: 3 },
});
await tool("write_file", { name: "notes.txt", text: "written" });
seen.read = await tool("read_file", { path: "files/notes.txt" });
seen.resources = (await client.listResources()).resources;
seen.templates = (await client.listResourceTemplates()).resourceTemplates;
seen.resource = await client.readResource({ uri: "hotcell://run-1/table.csv" });
seen.no_tool = await failure(tool("sh", {}));
seen.no_resource = await failure(client.readResource({ uri: "hotcell://run-9/x" }));

seen.opened = await tool("session_open", { files: { "first.txt": "one" } });
const inSession = (code) => tool("session_run", { session: "session-1", code });
seen.session = [await inSession("x = open(first).read()")];
await tool("session_checkpoint", { session: "session-1", name: "loaded" });
seen.session.push(await inSession("x = 'two'; import os; os._exit(1)"));
seen.session.push(await inSession("(x, (x := 'three'))"));
seen.rollback = await tool("session_rollback", { session: "session-1", name: "loaded" });
const looping = inSession("x = 'four'\nwhile True: pass");
seen.interrupt = await tool("session_interrupt", { session: "session-1" });
seen.session.push(await looping);
await tool("session_rollback", { session: "session-1", name: "loaded" });
seen.session.push(await inSession("x"));
seen.sessions = await tool("session_list", {});
await tool("session_close", { session: "session-1" });

const stop = new AbortController();
const running = failure(tool("run_python", { code: "import time\ntime.sleep(600)" }, {
    signal: stop.signal,
    onprogress: (progress) => { seen.progress.push(progress); stop.abort("enough"); },
}));
await client.ping();
seen.cancelled = await running;
seen.after = await tool("run_python", { code: "'still here'" });
if (transport.terminateSession) {
    seen.session_id = transport.sessionId ?? null;
    await transport.terminateSession();
}
seen.closing = seen.errors.length; // what is an error later is none: the client ends its own streams
await client.close();
console.log(JSON.stringify(seen));
