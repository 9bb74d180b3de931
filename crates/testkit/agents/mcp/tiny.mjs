// An MCP server of one tool, over standard input and output. What it does not know it refuses, as the protocol asks.
//
//   node tiny.mjs [LOG [MODE]]
//
// LOG gets a line for each start, method and call. MODE is a way to fail:
//   exits    at once, with a word on standard error
//   hangs    never answers
//   dies     when its tool is called
//   errs     answers every call with an error
//   two      works, and offers a second tool that does nothing
//   once     works the first time that it is started with this log, and exits later on
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [log, mode = "works"] = process.argv.slice(2);
const earlier = log && existsSync(log) ? readFileSync(log, "utf8") : "";
const note = (word) => log && appendFileSync(log, `${word}\n`);

note("started");
if (mode === "exits" || (mode === "once" && earlier.includes("started"))) {
  process.stderr.write("cannot start: THE-REASON is a missing token\n");
  process.exit(3);
}

const tool = {
  name: "magic",
  description: "Tells the magic word for a number.",
  inputSchema: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: protocolVersion ?? "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "tiny", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: mode === "two" ? [tool, { ...tool, name: "pause" }] : [tool] }),
  "tools/call": ({ arguments: given }) => {
    if (mode === "dies") process.exit(4);
    const text = mode === "errs" ? "THE-TOOL-REFUSED" : `MAGIC-WORD-${given?.x}`;
    return { content: [{ type: "text", text }], isError: mode === "errs" };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === "") continue;
  const { id, method, params } = JSON.parse(line);
  note(method);
  if (id === undefined || mode === "hangs") continue;
  const known = methods[method];
  const answer = known
    ? { result: known(params ?? {}) }
    : { error: { code: -32601, message: `no such method: ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
