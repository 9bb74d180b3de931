echo "paginate: $1 handled"
