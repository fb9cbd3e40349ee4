#!/bin/bash
# Each recipe gives the same bytes as one process.
# usage: test.sh ZHEN TEXT
set -euo pipefail
cd "$(dirname "$0")"
zhen=$1 text=$2
export ZHEN=$zhen BLOCK=4k
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

expect_same() {
    if cmp -s "$work/one" "$work/$2"; then echo "ok: $1"; else
        echo "FAILED: $1"
        failed=1
    fi
}

"$zhen" -q < "$text" > "$work/one"

if command -v parallel > /dev/null; then
    ./parallel.sh < "$text" > "$work/parallel" 2> /dev/null
    expect_same "GNU parallel" parallel
    if ssh -o BatchMode=yes -o ConnectTimeout=3 localhost true 2> /dev/null; then
        ./parallel.sh localhost,127.0.0.1 < "$text" > "$work/ssh" 2> /dev/null
        expect_same "GNU parallel over ssh" ssh
    else
        echo "skipped: GNU parallel over ssh (no ssh to localhost)"
    fi
else
    echo "skipped: GNU parallel (not installed)"
fi

# Slurm needs a cluster; the array's tasks and the join are run here with a stand-in for sbatch.
mkdir "$work/bin"
cat > "$work/bin/sbatch" << 'END'
#!/bin/bash
# Runs at once what Slurm would queue.
case "$*" in
*--array=*)
    for id in $(seq 0 "$(sed 's/.*--array=0-\([0-9]*\).*/\1/' <<< "$*")"); do
        SLURM_ARRAY_TASK_ID=$id SLURM_CPUS_PER_TASK=1 bash "${@: -1}" || exit 1
    done
    echo 1 ;;
*--wrap*) bash -c "${@: -1}" ;;
esac
END
chmod +x "$work/bin/sbatch"
PATH=$work/bin:$PATH ./slurm.sh "$text" "$work/slurm" 3
expect_same "Slurm array job (stand-in for sbatch)" slurm

if python3 -c 'import pyspark' 2> /dev/null && command -v java > /dev/null; then
    python3 spark.py "$text" "$work/spark.parts" "$zhen" 2> /dev/null
    cat "$work"/spark.parts/part-* > "$work/spark"
    expect_same "Spark" spark
else
    echo "skipped: Spark (pyspark or Java not installed)"
fi
exit $failed
