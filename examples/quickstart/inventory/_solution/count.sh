#!/bin/sh
# Prints one line.
echo "apples"
