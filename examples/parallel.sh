#!/bin/sh
# Translates standard input with GNU parallel: blocks of whole lines, results in order.
#
# usage: parallel.sh [HOST,HOST,...] < in.txt > out.txt
#
# Without hosts, one zhen runs for each core of this machine, each with one thread. With hosts
# (names for ssh; ":" is this machine), each needs zhen installed; blocks travel over ssh.
set -eu
zhen=${ZHEN:-zhen}
block=${BLOCK:-256k}
if [ $# -gt 0 ]; then
    exec parallel -q --pipe --keep-order --block "$block" --sshlogin "$1" "$zhen" -q -t 1
fi
exec parallel -q --pipe --keep-order --block "$block" "$zhen" -q -t 1
