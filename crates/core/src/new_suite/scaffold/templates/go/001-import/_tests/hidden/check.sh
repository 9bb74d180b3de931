go list -mod=mod -deps . | grep -qx '@name@' || { echo "main.go does not import @name@"; exit 1; }
go build -mod=mod -o "$TMPDIR/work" . || exit 1
# It cannot read this file.
printed=$($TERCA_WORK "$TMPDIR/work") || exit 1
[ "$printed" = '@name@' ] || { echo "it printed '$printed' instead of '@name@'"; exit 1; }
echo the package is imported
