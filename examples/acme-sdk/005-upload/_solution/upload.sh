echo "upload: $1 handled"
