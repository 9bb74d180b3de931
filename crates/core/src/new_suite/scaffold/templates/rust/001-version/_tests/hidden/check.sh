# Settings of Cargo in the workspace are the agent's.
rm -rf .cargo
cargo build --quiet @offline@--bin workspace || exit 1
# It cannot read this file.
printed=$($TERCA_WORK ./target/debug/workspace) || exit 1
expected=$(cargo pkgid @offline@@name@ | sed 's/.*[#@]//')
[ "$printed" = "@name@ $expected" ] || { echo "it printed '$printed' instead of '@name@ $expected'"; exit 1; }
echo the name and the version are right
