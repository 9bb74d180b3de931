#!/bin/sh
# An agent that misbehaves. Each mode is something real agents have been seen to do.
# It says `ready` in a file of the workspace once its mischief is under way.
set -u

ready() { : > ready; }

case "$1" in
  ignores-signals)      # keeps running when it is asked to end
    trap '' TERM INT HUP
    ready
    while :; do sleep 1; done ;;
  daemons)              # double-forked, in sessions of their own, deaf to signals
    for n in 1 2 3; do
      setsid sh -c 'trap "" TERM INT HUP; (cd / && exec sleep 300) >/dev/null 2>&1 &' &
    done
    wait
    ready ;;
  hops)                 # a process that forks itself anew all the time, to outrun whoever walks the tree
    setsid sh -c 'trap "" TERM INT HUP; hop() { [ "$1" -lt 2000 ] && { sleep 0.01; (hop $(($1 + 1))) & }; }; hop 0' &
    ready ;;
  outlived)             # a child that holds the output open and outlives it
    sleep 300 &
    ready
    echo "gone already" ;;
  floods)               # 200 MB in short lines
    ready
    head -c 200000000 /dev/zero | tr '\0' 'x' | fold -w 199 ;;
  one-long-line)        # 50 MB without a line end
    ready
    head -c 52428800 /dev/zero | tr '\0' 'x'
    echo ;;
  half-a-line)
    ready
    printf 'a whole line\nhalf a li' ;;
  dies)                 # killed by a signal, with nothing done
    kill -SEGV $$ ;;
  dies-after-work)
    echo work > work.txt
    kill -SEGV $$ ;;
  writes-outside)       # tries every way out of the workspace
    echo x > ../escaped.txt
    ln -s / root-link
    ln -s ../../.. up-link
    ready ;;
  shoots-supervisor)    # ends the process that looks after it, then goes on
    setsid sleep 300 &
    ready
    kill -9 "$(cut -d " " -f 4 "/proc/$PPID/stat")"   # the parent is the shell, its parent the supervisor
    sleep 300 ;;
  stops-supervisor)     # freezes the process that keeps its time, then goes on for ever
    ready
    kill -STOP "$(cut -d " " -f 4 "/proc/$PPID/stat")"
    sleep 300 ;;
  signals-supervisor)   # asks the process that looks after it to end
    kill -TERM "$(cut -d " " -f 4 "/proc/$PPID/stat")"
    ready ;;
  forges-output)        # puts there first what it wants a test to have printed
    for n in 1 2 3 4; do echo "ALL GOOD" > "../io/output-$n"; done
    ready ;;
  removes-workspace)
    rm -rf "$PWD" ;;
  replaces-workspace)   # a link to somewhere else in its place
    here=$PWD
    cd / && rm -rf "$here" && ln -s /usr "$here" ;;
  repeats-prompt)       # the prompt, from standard input and from the file
    cat > from-stdin.txt
    cp "$TERCA_PROMPT_FILE" from-file.txt ;;
  sleeps)
    ready
    sleep 300 ;;
  sleeps-in-tool)       # as an agent does it: the tool's shell in a session of its own
    setsid sh -c 'sleep 300' &
    ready
    wait ;;
  digs)                 # so many thousand levels of directories below a place, with a file at the bottom
    ready
    cd "$2" || exit 1
    thousand=$(printf 'd/%.0s' $(seq 1000))
    for n in $(seq "$3"); do
      # The shell complains that it cannot tell where it is.
      mkdir -p "$thousand" && cd -P "$thousand" || exit 1
    done 2>/dev/null
    echo bottom > file ;;
  many)                 # so many files in one directory
    mkdir many && cd many && seq "$2" | xargs touch
    cd .. && ready ;;
  *)
    echo "no such mischief: $1" >&2
    exit 64 ;;
esac
