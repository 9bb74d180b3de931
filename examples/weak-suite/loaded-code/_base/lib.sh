double() {
  :
}
