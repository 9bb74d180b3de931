#!/bin/sh
# Stands in for Claude Code in the newcomer's session: forgets the last hyphen unless there are rules, and goes on when
# the test says so. Its tokens so far stand in its session's transcript, as the real one's do.
set -eu
[ "${1:-}" = --version ] && { echo "2.1.325 (Claude Code)"; exit 0; }
cat > /dev/null
if [ -f CLAUDE.md ]; then which=with last='s/-$//'; else which=without last=; fi

used() { echo "\"usage\":{\"input_tokens\":$1,\"cache_creation_input_tokens\":4000,\"cache_read_input_tokens\":9000,\"output_tokens\":150}"; }
answer() { echo "{\"type\":\"assistant\",\"message\":{\"id\":\"$1\",\"role\":\"assistant\",\"model\":\"claude-opus-4-8\",\"content\":[$2],$(used 1200)}}"; }
result() { echo "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"$1\",\"type\":\"tool_result\",\"content\":\"$2\"}]}}"; }
call() { answer "$1" "{\"type\":\"tool_use\",\"id\":\"$1\",\"name\":\"$2\",\"input\":{$3}}"; }

mkdir -p "$HOME/.claude/projects/workspace"
echo "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"$PWD\",\"session_id\":\"s\",\"tools\":[\"Bash\",\"Write\"],\"mcp_servers\":[],\"model\":\"claude-opus-4-8\"}"
call m1 Write "\"file_path\":\"$PWD/slug.sh\",\"content\":\"...\""
cat > slug.sh <<SLUG
#!/bin/sh
printf '%s\n' "\$1" | LC_ALL=C tr 'A-Z' 'a-z' | LC_ALL=C sed 's/[^a-z0-9][^a-z0-9]*/-/g; s/^-//; $last'
SLUG
answer m1 '{"type":"text","text":""}' > "$HOME/.claude/projects/workspace/s.jsonl"
[ $which = with ] || { result m1 written; call m2 Bash '"command":"sh slug.sh \"Hello, World!\"","description":"try it"'; }
while [ ! -e "@HOME@/$which" ]; do sleep 0.05; done
[ $which = with ] || result m2 hello-world-
answer m3 '{"type":"text","text":"Done."}'
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":3,\"result\":\"Done.\",\"stop_reason\":\"end_turn\",\"session_id\":\"s\",\"total_cost_usd\":0.0647,$(used 3600),\"modelUsage\":{\"claude-opus-4-8\":{\"inputTokens\":3600,\"outputTokens\":450,\"cacheReadInputTokens\":27000,\"cacheCreationInputTokens\":12000}}}"
