#!/bin/sh
# Every long option of the program stands in each completion, and in the man page; bash offers a
# value that may be missing behind the equals sign only.
# usage: completions.sh OPTIONS_C FILE...
set -eu
options=$(sed -n 's/^ *{"\([a-z-]*\)", .*_argument,.*/\1/p' "$1")
bash=$2
shift
[ "$(echo "$options" | wc -l)" -gt 20 ] || { echo "no options found"; exit 1; }
status=0
for file in "$@"; do
    for option in $options; do
        sed 's/\\-/-/g' "$file" | grep -q -e "--$option" -e "-l $option " ||
            { echo "$file lacks --$option"; status=1; }
    done
done

# What bash offers for the last of these words.
offers() {
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _zhen; echo "${COMPREPLY[*]}"' \
        "$bash" "$@" 2>/dev/null
}
[ "$(offers zhen --bilingual = i)" = interleaved ] && [ -z "$(offers zhen --bilingual i)" ] &&
    [ "$(offers zhen --bilingual =)" = "tsv interleaved" ] && [ "$(offers zhen -f js)" = "json jsonl" ] ||
    { echo "$bash offers the wrong words"; status=1; }
exit $status
