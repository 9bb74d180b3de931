$TERCA_WORK python3 example.py > /dev/null || exit 1
grep -q '@import@' example.py || { echo "example.py does not import @import@"; exit 1; }
@checks@
echo the example follows the rule
