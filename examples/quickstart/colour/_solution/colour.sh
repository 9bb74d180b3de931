#!/bin/sh
# Prints one line.
echo "green"
