#!/bin/sh
# Replaces ssh in tests: runs the command of a switch locally, with SWITCH set to the folder of this switch.
# FLEET is the folder of all switches. FAKES is the folder with programs that replace those of a switch.
while [ "$1" != "--" ]; do shift; done
name=${2%.mgmt}
export SWITCH="$FLEET/$name" PATH="$FAKES:$PATH"
lost() { [ -e "$SWITCH/unreachable" ] || { [ -e "$SWITCH/goes-away" ] && [ -e "$SWITCH/state/pending" ]; }; }
if [ ! -d "$SWITCH" ] || lost; then
    echo "ssh: connect to host $2 port 22: No route to host" >&2
    exit 255
fi
if [ -e "$SWITCH/eos" ]; then
    [ $# = 2 ] || exit 64
    exec eos
fi
[ "$3" = "sudo -n sh -s" ] || exit 64
if [ -e "$SWITCH/namespace" ]; then
    exec ip netns exec "$(cat "$SWITCH/namespace")" sh -s
fi
exec sh -s
