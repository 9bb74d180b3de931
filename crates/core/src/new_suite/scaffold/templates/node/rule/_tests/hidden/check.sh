$TERCA_WORK node example.mjs > /dev/null || exit 1
grep -q '@import@' example.mjs || { echo "example.mjs does not import @import@"; exit 1; }
@checks@
echo the example follows the rule
