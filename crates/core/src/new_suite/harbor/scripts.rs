//! Scripts that run a task's tests and its solution without a container.
//!
//! Both run on copies that are removed afterwards, so they may write absolute paths of the workspace, and of the place for
//! Harbor's own directories (`$aside`), into the task's files. Such paths work in every directory, and in Python as in a shell.

use super::container::{MOVED, Places};

/// Takes the place of a package manager whose packages are in the image.
const INSTALLED: &str = "\
# What the tests install is in the image, which they cannot change.
mkdir \"$aside/bin\"
for name in apt apt-get; do
  echo '#!/bin/sh' > \"$aside/bin/$name\"
  chmod +x \"$aside/bin/$name\"
done
PATH=$aside/bin:$PATH
";

/// Returns the script of the eval's one test, which runs in the graded copy of the workspace.
pub(super) fn run_tests(places: &Places, has_packages: bool) -> String {
    let head = "\
#!/bin/sh
# Runs tests/test.sh of a Harbor task and prints its reward, which is the score.
# Written by `terca import harbor`.
set -u
cd \"$(dirname \"$0\")/..\" || exit 1
";
    // Runners look for settings in the directories above their tests.
    let begin = "\
# No file of the agent is above the tests, as in a container of Harbor's. What is not in the list is none of the task's.
aside=$TMPDIR/harbor
mkdir -p \"$aside/logs/verifier\" \"$aside/logs/agent\" \"$aside/logs/artifacts\"
while IFS= read -r file; do
  mkdir -p \"$aside/${file%/*}\"
  cp -p \".harbor/$file\" \"$aside/$file\"
done < .harbor/tests.list
# Terca compares the hidden files afterwards.
trap 'rm -rf .harbor; mv \"$TMPDIR/hidden\" .harbor' EXIT
mv .harbor \"$TMPDIR/hidden\"
relocate \"$aside/tests\"
";
    let end = "\
chmod +x \"$aside/tests/test.sh\"
\"$aside/tests/test.sh\" >&2 </dev/null
echo \"test.sh: exit status $?\" >&2

# reward.json goes first, as in Harbor: `reward`, or its only figure. Where it has several figures and none of that
# name, reward.txt has the reward, else `score`. Without a reward there is no score.
rewards=$aside/logs/verifier
reward= json=
[ -f \"$rewards/reward.json\" ] && json=$(tr -d ' \\t\\r\\n' < \"$rewards/reward.json\")
case $json in
  *'\"reward\":'*) reward=${json#*'\"reward\":'} ;;
  *:*:*) ;;
  *) reward=${json#*:} ;;
esac
if [ -z \"$reward\" ] && [ -f \"$rewards/reward.txt\" ]; then
  reward=$(tr -d ' \\t\\r\\n' < \"$rewards/reward.txt\")
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
    let installed = if has_packages { INSTALLED } else { "" };
    format!("{head}\n{}\n{begin}{installed}{end}", relocate(places))
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
aside=$PWD/.harbor
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
    let here = format!("s#{}#\\\\1$here\\\\2#g", pattern(places.root.as_str()));
    let moved = MOVED.map(|dir| format!("s#{}#\\\\1$there{dir}\\\\2#g", pattern(dir)));
    let rules = [&[here], moved.as_slice()].concat();
    format!(
        "\
# The container's paths become those of this workspace, in every text file below a directory.
relocate() {{
  here=$(printf '%s' \"$PWD\" | sed 's/[&#\\\\]/\\\\&/g')
  there=$(printf '%s' \"$aside\" | sed 's/[&#\\\\]/\\\\&/g')
  rules=\"{}\"
  find \"$1\" -type f -exec grep -lI / {{}} + | while IFS= read -r file; do
    sed -E -e \"$rules\" -e \"$rules\" \"$file\" > \"$file.relocated\" && cat \"$file.relocated\" > \"$file\"
    rm -f \"$file.relocated\"
  done
}}
",
        rules.join("; ").replace('$', "\\$").replace("\\$here", "$here").replace("\\$there", "$there")
    )
}
