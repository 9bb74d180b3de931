# Cases that the agent has not seen. $TERCA_WORK runs the work where it cannot read this file.
slug() {
  printed=$($TERCA_WORK sh ./slug.sh "$1") || { echo "slug.sh failed for: $1"; exit 1; }
  [ "$printed" = "$2" ] || { echo "slug.sh printed '$printed' instead of '$2' for: $1"; exit 1; }
}
slug 'Ready, Steady, GO' ready-steady-go
slug '--already--there--' already-there
slug '2026: a year' 2026-a-year
slug 'one' one
slug '!?' ''
echo each slug is as it should be
