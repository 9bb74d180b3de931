#!/bin/sh
# Prints one line.
echo "Hello!"
