#!/bin/sh
# A stand-in for a coding agent. It reads a task on standard input ("write NAME.sh that prints TEXT"), writes the
# script, and obeys the rules in AGENTS.md if there are any. Like a real agent it is not always at its best: now and
# then it forgets a rule, or gets it right without having been told. Its mood is in a file, which terca.yaml makes of
# the names of the trial, so that everybody who runs this suite sees the same.
set -eu

task=$(cat)
name=$(printf '%s\n' "$task" | sed -n 's/.*write \([a-z]*\.sh\).*/\1/p')
text=$(printf '%s\n' "$task" | sed -n 's/.*prints "\(.*\)".*/\1/p')
[ -n "$name" ] || { echo "I do not understand the task." >&2; exit 1; }

mood=$(($(cat "$HOME/mood") % 100))     # 0 … 99
rules=""
careful=25
if [ -f AGENTS.md ]; then
  rules=$(cat AGENTS.md)
  careful=94
  echo "I have read AGENTS.md."
fi

echo "Writing $name."
if [ "$mood" -lt "$careful" ]; then
  case "$text" in Hello|Goodbye|Welcome) text="$text!" ;; esac
  printf '#!/bin/sh\n# Prints one line.\necho "%s"\n' "$text" > "$name"
else
  printf 'echo "%s"\n' "$text" > "$name"
fi

words=$(printf '%s\n%s\n' "$task" "$rules" | wc -w)
printf '{"requests": 2, "inputTokens": %d, "outputTokens": %d, "toolCalls": 1}\n' \
  "$((words * 4 / 3 + mood % 10))" "$((22 + mood % 17))" > "$TERCA_STATS_FILE"
