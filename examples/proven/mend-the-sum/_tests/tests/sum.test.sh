sums=0
is() {
  expected=$1
  shift
  [ "$($TERCA_WORK sh ./sum.sh "$@")" = "$expected" ] || { echo "the sum of $* is not $expected"; exit 1; }
  sums=$((sums + 1))
}
is 0
is 7 7
is 6 1 2 3
is -4 10 -14
is 5050 $(seq 1 100)
echo "all $sums sums are right"
