double() {
  echo $(($1 * 2))
}
