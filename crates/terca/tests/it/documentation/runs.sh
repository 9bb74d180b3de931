# Runs that together have every key that results.json can have. Started in an empty directory; exit statuses do
# not matter.
export GEMINI_API_KEY=fake-key-for-tests GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9

# Rules, skills, an MCP server and a judge with Gemini CLI's stand-in; evals that differ, so that there is an outlook.
mkdir -p full/rules full/skills/plan && cd full
echo 'Be brief.' > rules/AGENTS.md
printf -- '---\nname: plan\ndescription: plans\n---\nPlan.\n' > skills/plan/SKILL.md
cat > "$STAND_INS/do.sh" <<'DO'
case "$prompt" in *odd*) if [ -f GEMINI.md ]; then touch done; fi ;; *) touch done ;; esac
echo tool mcp_docs_search
DO
cat > judge.sh <<'JUDGE'
#!/bin/sh
echo '{"reasons": [{"criterion": "clear", "reason": "it is", "score": 0.9}], "summary": "well", "score": 0.9}'
JUDGE
chmod +x judge.sh
cat > terca.yaml <<'SUITE'
description: All that there is.
gateway: meter
mcpPreflight: false
env: { OF_THE_JUDGE_BASE_URL: "http://127.0.0.1:9" }
repetitions: 2
environments:
  - name: gemini
    description: The stand-in.
    agent: gemini-cli
    model: gemini-2.5-pro
    skills: skills/plan
    mcpServers: { docs: { url: "http://127.0.0.1:9/mcp" } }
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
cd ..

# What goes wrong: a retry, a crash after some work, a variant that cannot run at all, a judge without a verdict, a run that stops early.
mkdir -p trouble && cd trouble
cat > agent.sh <<'AGENT'
#!/bin/sh
case "$(cat)" in
  crash) touch something; exit 7 ;;
  again) exit 1 ;;
esac
AGENT
chmod +x agent.sh
cat > terca.yaml <<'SUITE'
environments:
  - { name: script, agent: { name: command, command: ./agent.sh } }
  - { name: missing, agent: goose }
evals:
  - { name: crash, prompt: crash, tests: [{ fileExists: done }] }
  - { name: again, prompt: again, tests: [{ fileExists: done }] }
  - { name: unsure, prompt: work, tests: [{ judge: { rubric: clear?, agent: { name: command, command: echo unsure } } }] }
SUITE
terca --retries 1 -c 1
terca -e script -t crash -n 3 -c 1 --fail-fast
cd ..

# As many repetitions as it takes.
mkdir -p adaptive && cd adaptive
cat > terca.yaml <<'SUITE'
repetitions: { max: 2, until: conclusive }
environments: [{ name: nothing, agent: { name: command, command: "true" } }]
experiments: [{ name: a }, { name: b }]
evals: [{ name: one, prompt: nothing, tests: [{ fileExists: done }] }]
SUITE
terca
# No verdict.
terca --agent nop
true
