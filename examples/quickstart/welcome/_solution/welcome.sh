#!/bin/sh
# Prints one line.
echo "Welcome!"
