# Names that the prompt does not tell the answer of. $TERCA_WORK runs the work where it cannot read this file.
for name in Grace 'Edsger W.'; do
  [ "$($TERCA_WORK sh ./hello.sh "$name")" = "Hello, $name!" ] || { echo "hello.sh did not greet $name"; exit 1; }
done
echo everybody was greeted
