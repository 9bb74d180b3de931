rm -rf .cargo
cargo run --quiet @offline@--bin workspace > /dev/null || exit 1
grep -q '@import@' src/main.rs || { echo "src/main.rs does not import @import@"; exit 1; }
@checks@
echo the example follows the rule
