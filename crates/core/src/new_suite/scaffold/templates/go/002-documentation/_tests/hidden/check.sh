(cd @place@ && go doc -all .) > expected.txt || exit 1
diff expected.txt api.txt || exit 1
echo the documentation is complete
