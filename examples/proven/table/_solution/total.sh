#!/bin/sh
awk -F, 'NR > 1 { total += $2; rows++ } END { if (rows) print total; else print "nothing" }' "$1"
