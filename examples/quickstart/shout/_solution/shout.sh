#!/bin/sh
echo "GOOD"
