#!/bin/sh
# A stand-in for a coding agent, so that this suite runs without a key and costs nothing. It does not know the acme SDK
# and gets most tasks wrong, unless somebody tells it: rules, a skill or the MCP server. With a large model it knows
# everything. The tokens and the cost that it reports are made up.
set -eu

name=$(sed -n 's/.*Write \([a-z]*\)\.sh.*/\1/p' | head -n 1)
[ -n "$name" ] || { echo "I do not understand the task." >&2; exit 1; }

knows=no
tools=1
price=1
case "$name" in auth | errors) knows=yes ;; esac
case "${TERCA_MODEL:-}" in *opus*) knows=yes price=2 ;; esac

if [ -f AGENTS.md ]; then
  echo "I read AGENTS.md."
  knows=yes
fi

if [ -f .agents/skills/acme-sdk/SKILL.md ]; then
  echo "I read the skill acme-sdk."
  knows=yes tools=$((tools + 1))
fi

if [ -n "${TERCA_MCP_CONFIG:-}" ]; then
  config=$(tr -d '\n' < "$TERCA_MCP_CONFIG")
  command=$(printf '%s' "$config" | sed 's/.*"command": *"\([^"]*\)".*/\1/')
  args=$(printf '%s' "$config" | sed 's/.*"args": *\[\([^]]*\)\].*/\1/' | tr ',"' '  ')
  dir=$(printf '%s' "$config" | sed -n 's/.*"cwd": *"\([^"]*\)".*/\1/p')
  # The words of the command are separate: no quotes here.
  answer=$(printf '%s\n' \
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}' \
    '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
    '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' \
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"words":"handler"}}}' |
    (cd "${dir:-.}" && $command $args) | tail -n 1)
  echo "I asked acme-docs: $answer"
  case "$answer" in *handled*) knows=yes ;; esac
  tools=$((tools + 1))
fi

echo "I write $name.sh."
if [ "$knows" = yes ]; then
  printf 'echo "%s: $1 handled"\n' "$name" > "$name.sh"
else
  printf 'echo "$1"\n' > "$name.sh"
fi

input=$((9000 + 1500 * tools))
output=$((300 + 40 * tools))
printf '{"requests": %d, "inputTokens": %d, "outputTokens": %d, "toolCalls": %d, "costUsd": 0.%06d}\n' \
  "$((tools + 1))" "$input" "$output" "$tools" "$((price * (input * 3 + output * 15)))" > "$TERCA_STATS_FILE"
