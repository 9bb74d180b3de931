#!/bin/sh
echo "apples"
