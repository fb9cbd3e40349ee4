#!/bin/sh
# Every long option of the program stands in each completion, and in the man page.
# usage: completions.sh OPTIONS_C FILE...
set -eu
options=$(sed -n 's/^ *{"\([a-z-]*\)", .*_argument,.*/\1/p' "$1")
shift
[ "$(echo "$options" | wc -l)" -gt 20 ] || { echo "no options found"; exit 1; }
status=0
for file in "$@"; do
    for option in $options; do
        sed 's/\\-/-/g' "$file" | grep -q -e "--$option" -e "-l $option " ||
            { echo "$file lacks --$option"; status=1; }
    done
done
exit $status
