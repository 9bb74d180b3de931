echo "errors: $1 handled"
