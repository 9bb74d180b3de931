echo "auth: $1 handled"
