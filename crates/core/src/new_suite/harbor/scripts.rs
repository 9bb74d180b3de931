//! Scripts that run a task's tests and its solution without a container.
//!
//! Both run on copies that are removed afterwards, so they may write absolute paths of the workspace into the
//! task's files. Such paths work in every directory, and in Python as in a shell.

use super::container::{MOVED, Places};

/// Returns the script of the eval's one test, which runs in the graded copy of the workspace.
pub(super) fn run_tests(places: &Places) -> String {
    let head = "\
#!/bin/sh
# Runs tests/test.sh of a Harbor task and prints its reward, which is the score.
# Written by `terca import harbor`.
set -u
cd \"$(dirname \"$0\")/..\" || exit 1
";
    // A file that the agent left there is not a reward.
    let tail = "\
rm -rf .harbor/logs .harbor/solution
mkdir -p .harbor/logs/verifier .harbor/logs/agent .harbor/logs/artifacts
# Nor are files of its own tests: what is not in the list did not come with the task.
find .harbor/tests ! -type d | while IFS= read -r file; do
  grep -qxF \"$file\" .harbor/tests.list || rm -f \"$file\"
done
relocate .harbor/tests
chmod +x .harbor/tests/test.sh
\"$PWD/.harbor/tests/test.sh\" >&2 </dev/null
echo \"test.sh: exit status $?\" >&2

# reward.json goes first, as in Harbor: `reward`, or its only figure. Where it has several figures and none of that
# name, reward.txt has the reward, else `score`. Without a reward there is no score.
rewards=.harbor/logs/verifier
reward= json=
[ -f $rewards/reward.json ] && json=$(tr -d ' \\t\\r\\n' < $rewards/reward.json)
case $json in
  *'\"reward\":'*) reward=${json#*'\"reward\":'} ;;
  *:*:*) ;;
  *) reward=${json#*:} ;;
esac
if [ -z \"$reward\" ] && [ -f $rewards/reward.txt ]; then
  reward=$(tr -d ' \\t\\r\\n' < $rewards/reward.txt)
fi
case $json in
  *'\"score\":'*) reward=${reward:-${json#*'\"score\":'}} ;;
esac
reward=${reward%%[,\\}]*}
if [ -z \"$reward\" ] && [ -n \"$json\" ]; then
  echo \"reward.json has several figures, and none is called reward or score: $json\" >&2
  exit 1
elif [ -z \"$reward\" ]; then
  echo 'error: test.sh left no reward in /logs/verifier' >&2
  exit 1
fi
echo \"$reward\"
";
    format!("{head}\n{}\n{tail}", relocate(places))
}

/// Returns the script that `oracle` runs in the workspace.
pub(super) fn solution(places: &Places) -> String {
    let head = "\
#!/bin/sh
# Runs solution/solve.sh of a Harbor task, which `oracle` has laid into the workspace.
# Written by `terca import harbor`.
set -u
";
    let tail = "\
relocate .harbor/solution
chmod +x .harbor/solution/solve.sh
\"$PWD/.harbor/solution/solve.sh\" </dev/null
status=$?
rm -rf .harbor/solution
rmdir .harbor 2>/dev/null
exit $status
";
    format!("{head}\n{}\n{tail}", relocate(places))
}

/// Returns a shell function that replaces the container's paths by the workspace's. It does so twice, because a
/// match includes the characters around it, and two paths may share one.
fn relocate(places: &Places) -> String {
    let pattern = |from: &str| {
        let literal: String = from
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || "/_-".contains(c) {
                    c.to_string()
                } else {
                    format!("\\\\{c}")
                }
            })
            .collect();
        format!("(^|[^A-Za-z0-9_./~}})*-]){literal}(/|[^A-Za-z0-9_.-]|$)")
    };
    let all = [(places.root.as_str(), "")].into_iter().chain(MOVED);
    let rules: Vec<String> = all
        .map(|(from, to)| format!("s#{}#\\\\1$here{to}\\\\2#g", pattern(from)))
        .collect();
    format!(
        "\
# The container's paths become those of this workspace, in every text file below a directory.
relocate() {{
  here=$(printf '%s' \"$PWD\" | sed 's/[&#\\\\]/\\\\&/g')
  rules=\"{}\"
  find \"$1\" -type f -exec grep -lI / {{}} + | while IFS= read -r file; do
    sed -E -e \"$rules\" -e \"$rules\" \"$file\" > \"$file.relocated\" && cat \"$file.relocated\" > \"$file\"
    rm -f \"$file.relocated\"
  done
}}
",
        rules.join("; ").replace('$', "\\$").replace("\\$here", "$here")
    )
}
