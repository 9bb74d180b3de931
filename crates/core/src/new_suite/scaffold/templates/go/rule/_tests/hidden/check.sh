go build -mod=mod -o "$TMPDIR/work" . && $TERCA_WORK "$TMPDIR/work" > /dev/null || exit 1
grep -q '@import@' main.go || { echo "main.go does not import @import@"; exit 1; }
@checks@
echo the example follows the rule
