rm -rf .cargo
cargo build --quiet @offline@--bin workspace || exit 1
$TERCA_WORK ./target/debug/workspace > /dev/null || exit 1
grep -q '@import@' src/main.rs || { echo "src/main.rs does not import @import@"; exit 1; }
@checks@
echo the example follows the rule
