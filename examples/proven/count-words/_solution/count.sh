#!/bin/sh
tr -s '[:space:]' '\n' | tr '[:upper:]' '[:lower:]' | sed '/^$/d' | sort -u | wc -l | tr -d ' '
