#!/bin/sh
total=0
while [ $# -gt 0 ]; do
  total=$((total + $1))
  shift
done
echo "$total"
