#!/bin/sh
# A stand-in for a coding agent. It reads a task on standard input ("write NAME.sh that prints TEXT"), writes the
# script, and obeys the rules in AGENTS.md if there are any. Like a real agent it is not always at its best:
# now and then it forgets a rule, or gets it right without having been told.
set -eu

task=$(cat)
name=$(printf '%s\n' "$task" | sed -n 's/.*write \([a-z]*\.sh\).*/\1/p')
text=$(printf '%s\n' "$task" | sed -n 's/.*prints "\(.*\)".*/\1/p')
[ -n "$name" ] || { echo "I do not understand the task." >&2; exit 1; }

mood=$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')     # 0 … 255
rules=""
[ -f AGENTS.md ] && rules=$(cat AGENTS.md)
if [ -n "$rules" ]; then
  echo "I have read AGENTS.md."
  attentive=$([ "$mood" -lt 235 ] && echo yes || echo no)
else
  attentive=$([ "$mood" -lt 50 ] && echo yes || echo no)
fi

echo "Writing $name."
if [ "$attentive" = yes ]; then
  case "$text" in *greet*|Hello*|Goodbye*) text="$text!" ;; esac
  printf '#!/bin/sh\necho "%s"\n' "$text" > "$name"
  chmod +x "$name"
else
  printf 'echo "%s"\n' "$text" > "$name"
fi

words=$(printf '%s\n%s\n' "$task" "$rules" | wc -w | tr -d ' ')
printf '{"requests": 2, "inputTokens": %d, "outputTokens": %d, "toolCalls": 1}\n' "$((words * 4 / 3))" 24 > "$TERCA_STATS_FILE"
