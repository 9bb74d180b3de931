#!/bin/sh
echo "Goodbye!"
