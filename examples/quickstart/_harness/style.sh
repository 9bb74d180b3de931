#!/bin/sh
# Checks a script against the house style, and says what is missing.
script=$1
if [ ! -f "$script" ]; then
  echo "$script was not written"
  exit 1
fi
if [ "$(sed -n 1p "$script")" != '#!/bin/sh' ]; then
  echo "$script should begin with #!/bin/sh"
  exit 1
fi
case $(sed -n 2p "$script") in
  '# Prints '*) ;;
  *)
    echo "the second line of $script should say what it does: # Prints ..."
    exit 1
    ;;
esac
