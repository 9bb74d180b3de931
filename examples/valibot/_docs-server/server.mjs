// An MCP server over standard input and output that finds and reads pages of documentation.
//
// node server.mjs: the pages are those of the skill, so that both experiments give an agent the same words.
import { readFileSync, readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';

const DIR = new URL('../skills/valibot/pages/', import.meta.url);
const pages = new Map(
  readdirSync(DIR).sort().map((file) => [file.replace(/\.md$/, ''), readFileSync(new URL(file, DIR), 'utf8')]),
);

const text = (name, description) => ({
  type: 'object', properties: { [name]: { type: 'string', description } }, required: [name],
});
const tools = {
  search: {
    description: 'Finds passages of the Valibot 1.x documentation. Its API differs from what you may remember: look before you write.',
    inputSchema: text('query', 'Words to look for, such as "optional key" or "coerce"'),
    call: ({ query }) => search(String(query ?? '')),
  },
  read: {
    description: `Reads a page of the Valibot 1.x documentation: ${[...pages.keys()].join(', ')}.`,
    inputSchema: text('page', 'The name of the page'),
    call: ({ page }) => pages.get(page) ?? `There is no page "${page}". Pages: ${[...pages.keys()].join(', ')}.`,
  },
};

// The paragraphs with most of the words, best first, each with its page.
function search(query) {
  const words = query.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const found = [];
  for (const [page, content] of pages) {
    for (const paragraph of content.split(/\n{2,}/)) {
      const hits = words.filter((word) => paragraph.toLowerCase().includes(word)).length;
      if (hits > 0) found.push({ hits, text: `[${page}]\n${paragraph}` });
    }
  }
  found.sort((a, b) => b.hits - a.hits);
  return found.slice(0, 5).map(({ text }) => text).join('\n\n') || `Nothing about "${query}".`;
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: protocolVersion ?? '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'valibot-docs', version: '1.0.0' },
    instructions: 'The documentation of the Valibot version that is installed here.',
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema })),
  }),
  'tools/call': ({ name, arguments: given }) => {
    const tool = tools[name];
    if (!tool) return { isError: true, content: [{ type: 'text', text: `no such tool: ${name}` }] };
    return { content: [{ type: 'text', text: tool.call(given ?? {}) }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue;
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue; // A notification wants no answer.
  const known = methods[method];
  const answer = known
    ? { result: known(params ?? {}) }
    : { error: { code: -32601, message: `no such method: ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
