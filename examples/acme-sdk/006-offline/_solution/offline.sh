echo "offline: $1 handled"
