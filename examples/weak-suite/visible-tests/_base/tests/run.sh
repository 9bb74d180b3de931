[ "$(sh sum.sh 3 4)" = 7 ]
