#!/bin/sh
# Prints one line.
echo "Goodbye!"
