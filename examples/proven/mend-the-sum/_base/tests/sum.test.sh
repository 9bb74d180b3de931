[ "$(sh ./sum.sh 1 2 3)" = 6 ] && echo "1 + 2 + 3 is right"
