#!/bin/sh
# Installs Terca from the files of a release. Downloads the tarball for this machine, checks its SHA-256, and puts the
# program into a directory of yours. It needs sh, tar, gzip, a program for checksums, and curl or wget for an address.
set -eu

# The address that the release was made for, by `scripts/release --base-url`.
published=''

usage() {
  cat <<'END'
usage: sh install.sh [--from PLACE] [--to DIR] [--sha256 SUM]

  --from PLACE   the release: an address (https://…) or a directory with SHA256SUMS and the tarballs, or one tarball
                 (default: the address that the release was made for, else the directory of this script)
  --to DIR       the directory for the program (default: ~/.local/bin)
  --sha256 SUM   the checksum that the tarball must have (default: the one in SHA256SUMS, which is beside it)
END
}

complain() {
  printf 'error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  help: %s\n' "$@" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The target of Rust that the program for this machine is built for.
target_of_machine() {
  machine=$(uname -sm)
  case $machine in
    'Linux x86_64') echo x86_64-unknown-linux-musl ;;
    'Linux aarch64' | 'Linux arm64') echo aarch64-unknown-linux-musl ;;
    'Darwin x86_64') echo x86_64-apple-darwin ;;
    'Darwin arm64') echo aarch64-apple-darwin ;;
    *)
      complain "there is no Terca for this machine ($machine), only for Linux and macOS on x86-64 and arm64" \
        'on Windows, use it within WSL' ;;
  esac
}

# Brings a file of the release here: get NAME FILE.
get() {
  case $base in
    http://* | https://*)
      if has curl; then
        curl -fsSL "$base/$1" -o "$2" || complain "$base/$1 cannot be downloaded" "is the release there? --from names its place"
      elif has wget; then
        wget -q -O "$2" "$base/$1" || complain "$base/$1 cannot be downloaded" "is the release there? --from names its place"
      else
        complain 'neither curl nor wget is here' 'install one of them, or download the release yourself and give its directory: --from DIR'
      fi ;;
    *)
      [ -f "$base/$1" ] || complain "there is no file $base/$1" 'give the directory or the address of a release: --from PLACE'
      cp "$base/$1" "$2" ;;
  esac
}

sha256_of() {
  if has sha256sum; then
    sum=$(sha256sum "$1")
  elif has shasum; then
    sum=$(shasum -a 256 "$1")
  elif has openssl; then
    sum=$(openssl dgst -sha256 -r "$1")
  else
    complain 'there is no program for checksums: sha256sum, shasum or openssl' 'install one of them; nothing is installed unchecked'
  fi
  echo "${sum%% *}"
}

# Sets `tarball` and `expected` from the list of checksums, for this machine unless the tarball is known.
look_up() {
  get SHA256SUMS "$work/SHA256SUMS"
  wanted=$tarball
  if [ -z "$wanted" ]; then
    target=$(target_of_machine)
    # A release that was made without musl has a program for the C library of the machine that made it.
    other=$target
    case $target in *-musl) other=${target%-musl}-gnu ;; esac
  fi
  while read -r sum name; do
    if [ -n "$wanted" ]; then
      [ "$name" = "$wanted" ] || continue
    else
      case $name in
        terca-"$target"-v*.tar.gz) ;;
        terca-"$other"-v*.tar.gz) [ -z "$tarball" ] || continue ;;
        *) continue ;;
      esac
    fi
    tarball=$name expected=$sum
  done <"$work/SHA256SUMS"
  [ -n "$expected" ] || complain "the release at $base has nothing for ${wanted:-$target}" \
    "SHA256SUMS there lists what it has; scripts/release makes it for other machines"
}

main() {
  from='' to='' expected='' tarball=''
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --from | --to | --sha256)
        [ $# -gt 1 ] || { usage >&2; complain "$1 needs a value"; }
        case $1 in --from) from=$2 ;; --to) to=$2 ;; *) expected=$2 ;; esac
        shift 2 ;;
      *) usage >&2; complain "what is \`$1\`?" ;;
    esac
  done
  case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
  base=${from:-$published}
  if [ -z "$base" ] && [ -f "$here/SHA256SUMS" ]; then base=$here; fi
  [ -n "$base" ] || complain 'where is the release?' 'give the address or the directory that holds SHA256SUMS and the tarballs: --from PLACE'
  base=${base%/}
  case $base in
    *.tar.gz)
      tarball=${base##*/}
      case $base in */*) base=${base%/*} ;; *) base=. ;; esac ;;
  esac
  if [ -z "$to" ]; then
    [ -n "${HOME:-}" ] || complain 'HOME is not set' 'name the directory for the program: --to DIR'
    to=$HOME/.local/bin
  fi

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  if [ -z "$expected" ] || [ -z "$tarball" ]; then
    given=$expected
    expected=''
    look_up
    expected=${given:-$expected}
  fi
  get "$tarball" "$work/terca.tar.gz"
  found=$(sha256_of "$work/terca.tar.gz")
  [ "$found" = "$expected" ] || complain "$tarball has not the checksum that it should have: nothing was installed" \
    "expected $expected" "found    $found" 'the file is damaged, or somebody changed it: download it again, and do not use it if this stays'

  tar -xzf "$work/terca.tar.gz" -C "$work"
  set -- "$work"/*/terca
  [ -f "$1" ] || complain "$tarball has no program" 'is it a tarball that scripts/release made?'
  said=$("$1" --version) || complain "the program in $tarball does not run on this machine: nothing was installed" \
    'a program that is not for musl needs the C library of the machine that built it, or a newer one'
  mkdir -p "$to" || complain "$to cannot be made" 'name another directory: --to DIR'
  # Under another name first: a program that runs cannot be written to.
  { cp "$1" "$to/.terca.$$" && mv -f "$to/.terca.$$" "$to/terca"; } ||
    { rm -f "$to/.terca.$$"; complain "$to/terca cannot be written" 'name another directory (--to DIR), or run this as a user who may write there'; }
  echo "installed terca $said: $to/terca"
  case :$PATH: in
    *":$to:"*) ;;
    *) echo "  help: $to is not on your PATH: export PATH=\"$to:\$PATH\"" ;;
  esac
}

# At the end, so that a half of this file does nothing.
main "$@"
