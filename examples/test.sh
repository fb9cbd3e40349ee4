#!/bin/bash
# Each recipe gives the same bytes as one process.
# usage: test.sh ZHEN TEXT
set -euo pipefail
cd "$(dirname "$0")"
zhen=$1 text=$2
export ZHEN=$zhen BLOCK=4k
work=$(mktemp -d)
trap '[ ! -s "$work/ssh/pid" ] || kill "$(cat "$work/ssh/pid")"; rm -rf "$work"' EXIT
failed=0

expect_same() {
    if cmp -s "$work/one" "$work/$2"; then echo "ok: $1"; else
        echo "FAILED: $1"
        failed=1
    fi
}

"$zhen" -q < "$text" > "$work/one"

# An ssh server of our own on this machine, with keys of its own, for as long as the test lasts.
start_sshd() {
    local sshd port
    sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || return 1
    [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd # which a server of root's wants
    mkdir -m 700 "$work/ssh"
    ssh-keygen -q -t ed25519 -N "" -f "$work/ssh/host"
    ssh-keygen -q -t ed25519 -N "" -f "$work/ssh/user"
    cp "$work/ssh/user.pub" "$work/ssh/authorized"
    port=$((20000 + RANDOM % 20000))
    printf '%s\n' "ListenAddress 127.0.0.1:$port" "HostKey $work/ssh/host" "PidFile $work/ssh/pid" \
        "AuthorizedKeysFile $work/ssh/authorized" "StrictModes no" "UsePAM no" \
        > "$work/ssh/config"
    "$sshd" -f "$work/ssh/config" -E "$work/ssh/log" || return 1
    for _ in $(seq 50); do [ -s "$work/ssh/pid" ] && break || sleep 0.1; done
    # What parallel calls instead of ssh.
    export PARALLEL_SSH="ssh -p $port -i $work/ssh/user -o BatchMode=yes \
        -o StrictHostKeyChecking=no -o UserKnownHostsFile=$work/ssh/known -o LogLevel=ERROR"
    $PARALLEL_SSH localhost true
}

if command -v parallel > /dev/null; then
    ln -s "$zhen" "$work/a zhen"
    ZHEN="$work/a zhen" ./parallel.sh < "$text" > "$work/parallel" 2> /dev/null
    expect_same "GNU parallel" parallel
    if start_sshd; then
        ./parallel.sh localhost,127.0.0.1 < "$text" > "$work/over-ssh" 2> "$work/log"
        expect_same "GNU parallel over ssh, two hosts" over-ssh
    else
        echo "skipped: GNU parallel over ssh (no sshd, or it cannot be started)"
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
*) bash "${@: -1}" ;;
esac
END
chmod +x "$work/bin/sbatch"
slurm() {
    PATH=$work/bin:$PATH ./slurm.sh "$@"
}
slurm "$text" "$work/slurm" 3
expect_same "Slurm array job (stand-in for sbatch)" slurm

# Submitted again after a failure: with another number of tasks, with another text in between.
tail -n +5 "$text" > "$work/other"
! ZHEN=/bin/false slurm "$text" "$work/again" 8 || failed=1
! ZHEN=/bin/false slurm "$work/other" "$work/again" 3 || failed=1
[ ! -e "$work/again" ] || failed=1
slurm "$text" "$work/again" 3
expect_same "Slurm array job, submitted again" again

python=${PYTHON:-python3}
if "$python" -c 'import pyspark' 2> /dev/null && command -v java > /dev/null; then
    "$python" spark.py "$text" "$work/spark.parts" "$zhen" 2> /dev/null
    cat "$work"/spark.parts/part-* > "$work/spark"
    expect_same "Spark" spark
else
    echo "skipped: Spark (pyspark or Java not installed)"
fi
exit $failed
