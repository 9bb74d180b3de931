echo "stream: $1 handled"
