# Runs that together have every key that results.json can have. Started in an empty directory; exit statuses do
# not matter.
export GEMINI_API_KEY=fake-key-for-tests GOOGLE_GEMINI_BASE_URL="$MODEL_URL" NO_PROXY=127.0.0.1

# Rules, skills, an MCP server and a judge with Gemini CLI's stand-in; evals that differ, so that there is an outlook.
mkdir -p full/rules full/skills/plan && cd full
echo 'Be brief.' > rules/AGENTS.md
printf -- '---\nname: plan\ndescription: plans\n---\nPlan.\n' > skills/plan/SKILL.md
cat > "$STAND_INS/do.sh" <<'DO'
case "$prompt" in *odd*) if [ -f GEMINI.md ]; then touch done; fi ;; *) touch done ;; esac
bash -c 'rest=${GOOGLE_GEMINI_BASE_URL#http://}; host=${rest%%/*}
ask() {
  exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
  printf "POST /%s/v1/models/m:generateContent HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %s\r\n\r\n%s" "${rest#*/}" ${#1} "$1" >&3
  cat <&3 >/dev/null
}
tools="[{\"functionDeclarations\": [{\"name\": \"t\"}]}]"
said="[{\"role\": \"user\", \"parts\": [{\"text\": \"scenario:docs\"}]}]"
ask "{\"contents\": $said}"
ask "{\"systemInstruction\": {\"parts\": [{\"text\": \"Be good.\"}]}, \"contents\": $said, \"tools\": $tools, \"generationConfig\": {\"temperature\": 0.5}}"'
echo tool mcp_docs_search
settings=$(tr -d '\n' <"$HOME/.gemini/settings.json")
server=$(printf %s "$settings" | sed 's/.*"command": *"\([^"]*\)".*/\1/')
args=$(printf %s "$settings" | sed 's/.*"args": *\[\([^]]*\)\].*/\1/' | tr ',"' '  ')
printf '{"id":%s}\n' '0,"method":"initialize"' '1,"method":"tools/list"' '2,"method":"tools/call","params":{"name":"search"}' |
  $server $args >/dev/null
DO
cat > docs-server <<'SERVER'
#!/bin/sh
read -r line && echo '{"id":0,"result":{"serverInfo":{"name":"docs","version":"1"}}}'
read -r line && echo '{"id":1,"result":{"tools":[{"name":"search"}]}}'
read -r line && echo '{"id":2,"result":{"content":[]}}'
SERVER
chmod +x docs-server
cat > judge.sh <<'JUDGE'
#!/bin/sh
echo '{"reasons": [{"criterion": "clear", "reason": "it is", "score": 0.9}], "summary": "well", "score": 0.9}'
JUDGE
chmod +x judge.sh
cat > terca.yaml <<'SUITE'
description: All that there is.
gateway: record
mcpPreflight: false
env: { OF_THE_JUDGE_BASE_URL: "http://127.0.0.1:9" }
repetitions: 2
environments:
  - name: gemini
    description: The stand-in.
    agent: gemini-cli
    model: gemini-2.5-pro
    skills: skills/plan
    mcpServers: { docs: { command: ./docs-server } }
experiments:
  - name: control
  - name: with-rules
    description: It is told to be brief.
    rules: rules/AGENTS.md
evals:
  - { name: a, description: Odd., prompt: odd 1, tests: [{ description: It is there., fileExists: done }] }
  - { name: b, prompt: odd 2, tests: [{ fileExists: done }] }
  - { name: c, prompt: even 1, tests: [{ fileExists: done }] }
  - { name: d, prompt: even 2, tests: [{ fileExists: done }, { judge: { rubric: clear?, agent: { name: command, command: ./judge.sh } } }] }
SUITE
terca
terca regrade -t a
terca replay -t c
cd ..

# The parts of rules.
mkdir -p parts && cd parts
printf '## One\nOne.\n## Two\nTwo.\n' > rules.md
cat > terca.yaml <<'SUITE'
environments: [{ name: script, agent: { name: command, command: "grep -qs One AGENTS.md && touch done; true" } }]
experiments: [{ name: control }, { name: with-rules, rules: rules.md }]
evals: [{ name: one, prompt: nothing, tests: [{ fileExists: done }] }]
SUITE
terca ablate with-rules --parts rules
cd ..

# What goes wrong: a retry, one that passes after it, a crash after some work, a variant that cannot run at all, a judge without a verdict, a run that stops early.
mkdir -p trouble && cd trouble
cat > agent.sh <<'AGENT'
#!/bin/sh
case "$(cat)" in
  crash) touch something; exit 7 ;;
  again) exit 1 ;;
  luck) echo x >> "$COUNT"; [ "$(wc -l < "$COUNT")" -eq 2 ] || exit 1; touch done ;;
esac
AGENT
chmod +x agent.sh
cat > terca.yaml <<SUITE
env: { COUNT: "$PWD/count" }
SUITE
cat >> terca.yaml <<'SUITE'
environments:
  - { name: script, agent: { name: command, command: ./agent.sh } }
  - { name: missing, agent: goose }
evals:
  - name: crash
    prompt: crash
    tests:
      - fileExists: done
      - commandSuccess:
          command: >-
            echo "<testsuite><testcase name='a'/><testcase name='b'><failure message='1 != 2'/></testcase></testsuite>" > r.xml;
            echo counted; false
          report: r.xml
  - { name: again, prompt: again, tests: [{ fileExists: done }] }
  - { name: luck, prompt: luck, repetitions: 2, tests: [{ fileExists: done }] }
  - { name: open, prompt: work }
  - { name: unsure, prompt: work, tests: [{ judge: { rubric: clear?, agent: { name: command, command: echo unsure } } }] }
SUITE
terca --retries 1 -c 1
terca -e script -t crash -n 3 -c 1 --fail-fast
terca --failed -e script -n 1
cd ..

# As many repetitions as it takes.
mkdir -p adaptive/_base && cd adaptive
echo start > _base/start
cat > terca.yaml <<'SUITE'
repetitions: { max: 2, until: conclusive }
environments: [{ name: nothing, agent: { name: command, command: "true" } }]
experiments: [{ name: a }, { name: b }]
evals: [{ name: one, prompt: nothing, tests: [{ fileExists: done }] }]
SUITE
terca
# No verdict, and whole workspaces.
terca --agent nop --keep all
true
