echo "retry: $1 handled"
