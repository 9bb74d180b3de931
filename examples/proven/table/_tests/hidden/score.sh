right=0 all=0
expect() {
  all=$((all + 1))
  printf "$2" > case.csv
  [ "$($TERCA_WORK sh ./total.sh case.csv 2>/dev/null)" = "$1" ] && right=$((right + 1))
}
expect 7 'name,amount\napples,3\npears,4\n'
expect nothing 'name,amount\n'
expect 12 'name,amount\na,12\n'
expect -1 'name,amount\na,4\nb,-5\n'
printf '{"score": %s, "message": "%s of %s cases"}\n' "$(awk "BEGIN { print $right / $all }")" "$right" "$all"
