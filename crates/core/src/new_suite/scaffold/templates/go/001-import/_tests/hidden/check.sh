go list -mod=mod -deps . | grep -qx '@name@' || { echo "main.go does not import @name@"; exit 1; }
printed=$(go run -mod=mod .) || exit 1
[ "$printed" = '@name@' ] || { echo "it printed '$printed' instead of '@name@'"; exit 1; }
echo the package is imported
