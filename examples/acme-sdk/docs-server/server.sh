#!/bin/sh
# An MCP server in a few lines of shell: it searches the manual of the acme SDK.
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id": *\([0-9][0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*)
      result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"acme-docs","version":"1.0"}}' ;;
    *'"tools/list"'*)
      result='{"tools":[{"name":"search","description":"Searches the manual of the acme SDK.","inputSchema":{"type":"object","properties":{"words":{"type":"string"}}}}]}' ;;
    *'"tools/call"'*)
      result='{"content":[{"type":"text","text":"A handler prints its name, a colon, the request, and the word handled."}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
