# Each text is counted by a process of its own, which cannot read this file: see $TERCA_WORK.
check() {
  counted=$(printf "$2" | $TERCA_WORK sh ./count.sh) || exit 1
  [ "$counted" = "$1" ] || { echo "counted $counted instead of $1 in: $2"; exit 1; }
}
check 0 ''
check 1 'one One ONE\n'
check 3 'a b\tc a\n\n b'
check 5 'the quick brown fox\nand the Fox\n'
echo every text was counted as it should be
