#!/bin/bash
# Translates a file on a Slurm cluster: an array job, one block of lines for each task, and a second
# job that joins the blocks when all are done.
#
# usage: slurm.sh IN.txt OUT.txt [TASKS]
#
# The files must lie on a file system that all nodes see. A task that is killed leaves no partial
# block (zhen -o writes whole files only): submit again, and --resume skips what is done.
#SBATCH --cpus-per-task=4
set -euo pipefail
zhen=${ZHEN:-zhen}

# A task of the array: translates its block.
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
    block=$(printf '%s/block.%05d.txt' "$BLOCKS" "$SLURM_ARRAY_TASK_ID")
    mkdir -p "$BLOCKS/out"
    exec "$zhen" -q -t "${SLURM_CPUS_PER_TASK:-4}" -o "$BLOCKS/out/" --resume "$block"
fi

in=$1 out=$2 tasks=${3:-8}
blocks=$(dirname "$out")/.$(basename "$out").blocks
if [ ! -d "$blocks" ]; then
    mkdir "$blocks"
    split --number="l/$tasks" --numeric-suffixes --suffix-length=5 --additional-suffix=.txt \
        "$in" "$blocks/block."
fi
array=$(BLOCKS=$blocks sbatch --parsable --export=ALL --array="0-$((tasks - 1))" "$0")
sbatch --dependency="afterok:$array" --wrap \
    "cat '$blocks'/out/block.*.txt > '$out' && rm -r '$blocks'"
