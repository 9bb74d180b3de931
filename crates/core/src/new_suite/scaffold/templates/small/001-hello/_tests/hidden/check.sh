# Names that the prompt does not tell the answer of.
for name in Grace 'Edsger W.'; do
  [ "$(sh ./hello.sh "$name")" = "Hello, $name!" ] || { echo "hello.sh did not greet $name"; exit 1; }
done
echo everybody was greeted
