#!/bin/sh
# Starts a command of mpirun on a node, which is a network namespace.
node=$1
shift
exec ip netns exec "$node" unshare --uts sh -c "hostname $node; $*"
