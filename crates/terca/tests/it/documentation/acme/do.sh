# What the stand-ins for agents do in the suite beside this file: tasks of an SDK that they know little about. Rules, a
# skill, an MCP server or a large model help.
name=$(printf '%s' "$prompt" | sed -n 's/.*Write \([a-z]*\)\.sh.*/\1/p' | head -1)
knows=no
case "$name" in auth|errors) knows=yes ;; esac
case "$model" in *opus*) knows=yes ;; esac
[ -f "$rules" ] && knows=yes
[ -d "$skills/acme-sdk" ] && { knows=yes; echo tool activate_skill; }
grep -q '"acme-docs"' "$settings" 2>/dev/null && { knows=yes; echo tool mcp_acme-docs_search; }
if [ "$knows" = yes ]; then
  printf 'echo "%s: $1 handled"\n' "$name" > "$name.sh"
else
  printf 'echo "$1"\n' > "$name.sh"
fi
echo tool write_file
