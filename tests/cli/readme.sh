#!/bin/bash
# Runs every command that the README shows with its output (```console blocks) and compares.
#
# usage: readme.sh [--update] ZHEN README
#
# A command begins with "$ "; what follows up to the next one is its output. Commands run in one
# directory, which begins with a copy of examples/files. --update writes the outputs as they are now
# into the README: for a new model.
set -euo pipefail
update=
[ "$1" != --update ] || { update=yes; shift; }
zhen=$(realpath "$1") readme=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$(dirname "$readme")/examples/files" "$work/here"
mkdir "$work/bin"
ln -s "$zhen" "$work/bin/zhen"
PATH=$work/bin:$PATH
cd "$work/here"

# Writes the README as it should be: outputs are dropped and made again.
inside= commands=0
while IFS= read -r line; do
    case $inside$line in
    '```console') inside=yes ;;
    'yes```') inside= ;;
    'yes$ '*)
        printf '%s\n' "$line"
        commands=$((commands + 1))
        (eval "${line#??}") < /dev/null 2>&1 || echo "(exit status $?)"
        continue ;;
    yes*) continue ;;
    esac
    printf '%s\n' "$line"
done < "$readme" > "$work/readme"

# The last digits of scores differ from one kind of processor to another.
blur() {
    sed 's/-[0-9]\.[0-9]*/-SCORE/g' "$1"
}

[ "$commands" -gt 0 ] || { echo "no commands found in $readme"; exit 1; }
if [ -n "$update" ]; then
    cat "$work/readme" > "$readme"
elif ! diff -u <(blur "$readme") <(blur "$work/readme"); then
    echo "the README's outputs are not what the program gives (tests/cli/readme.sh --update)"
    exit 1
fi
