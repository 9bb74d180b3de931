#!/bin/sh
# Prints one line.
echo "GOOD"
