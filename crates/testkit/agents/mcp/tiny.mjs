// An MCP server of one tool, over standard input and output. What it does not know it refuses, as the protocol asks.
import { createInterface } from "node:readline";

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
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": ({ arguments: given }) => ({ content: [{ type: "text", text: `MAGIC-WORD-${given?.x}` }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === "") continue;
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const known = methods[method];
  const answer = known
    ? { result: known(params ?? {}) }
    : { error: { code: -32601, message: `no such method: ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
