echo "batch: $1 handled"
