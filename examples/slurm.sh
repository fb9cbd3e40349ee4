#!/bin/bash
# Translates a file on a Slurm cluster: an array job, one block of lines for each task, and a second
# job that joins the blocks when all are done.
#
# usage: slurm.sh IN.txt OUT.txt [TASKS]
#
# The files must lie on a file system that all nodes see. A task that is killed leaves no partial
# block (zhen -o writes whole files only): submit the same again, and --resume skips what is done.
#SBATCH --cpus-per-task=4
set -euo pipefail
zhen=${ZHEN:-zhen}

# A task of the array: translates its block.
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
    block=$(printf '%s/block.%05d.txt' "$BLOCKS" "$SLURM_ARRAY_TASK_ID")
    mkdir -p "$BLOCKS/out"
    exec "$zhen" -q -t "${SLURM_CPUS_PER_TASK:-4}" -o "$BLOCKS/out/" --resume "$block"
fi

# The job that joins them; nothing is removed unless every line is there.
if [ -n "${ZHEN_JOIN:-}" ]; then
    cat "$BLOCKS"/out/block.*.txt > "$ZHEN_JOIN.new"
    [ "$(cat "$BLOCKS"/block.*.txt | wc -l)" -eq "$(wc -l < "$ZHEN_JOIN.new")" ]
    mv "$ZHEN_JOIN.new" "$ZHEN_JOIN"
    rm -r "$BLOCKS"
    exit
fi

in=$1 out=$2 tasks=${3:-8}
blocks=$(dirname "$out")/.$(basename "$out").$tasks.blocks
# What another text left behind is of no use, nor is half a split.
if [ -d "$blocks" ] && ! cat "$blocks"/block.*.txt | cmp -s - "$in"; then
    rm -r "$blocks"
fi
if [ ! -d "$blocks" ]; then
    rm -rf "$blocks.new"
    mkdir "$blocks.new"
    split --number="l/$tasks" --numeric-suffixes --suffix-length=5 --additional-suffix=.txt \
        "$in" "$blocks.new/block."
    mv "$blocks.new" "$blocks"
fi
array=$(BLOCKS=$blocks sbatch --parsable --export=ALL --array="0-$((tasks - 1))" "$0")
BLOCKS=$blocks ZHEN_JOIN=$out sbatch --export=ALL --cpus-per-task=1 --dependency="afterok:$array" "$0"
