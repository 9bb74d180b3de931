#!/bin/sh
# Prints one line.
echo "cat"
