for request in r-71 r-904; do
  [ "$($TERCA_WORK sh ./paginate.sh "$request")" = "paginate: $request handled" ] || { echo "not handled: $request"; exit 1; }
done
echo every request was handled
