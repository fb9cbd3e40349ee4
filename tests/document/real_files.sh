#!/bin/bash
# The guarantees, and a translation whose form is checked, on real files: Chinese manuals, help pages,
# catalogues and strings from Debian packages, and whatever lies in the directories named. Not part of
# ctest: it downloads some 40 MB and takes minutes.
#
# usage: real_files.sh BUILD_DIR [DIRECTORY...]
#
# Needs apt-get, dpkg-deb, gettext, jq and xmllint.
set -euo pipefail
build=$(realpath "$1")
shift
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir packages samples

packages="debian-edu-doc-zh-cn debian-faq-zh-cn debian-reference-zh-tw maint-guide-zh-tw manpages-zh
    lilypond-doc-html-zh kicad-doc-zh php-symfony-security-core php-symfony-validator
    webext-ublock-origin-firefox iso-codes python3-notebook"
for package in $packages; do
    (cd packages && apt-get download "$package") > log 2>&1 || { echo "skipped: $package"; continue; }
    dpkg-deb -x packages/"$package"_*.deb "packages/$package"
    rm packages/"$package"_*.deb
done

# take EXTENSION: of the files named on standard input, up to 150 kB large, at most 6 for each package.
take() {
    declare -A taken=()
    while IFS=/ read -r top package rest; do
        number=${taken[$package]:-0}
        file=$top/$package/$rest
        if [ "$number" -lt 6 ] && [ "$(stat -c %s "$file")" -le 150000 ]; then
            cp "$file" "samples/$package-$number.$1"
            taken[$package]=$((number + 1))
        fi
    done
}

# Catalogues translate from English: what was Chinese in the translation becomes the source.
swap_po() {
    awk 'BEGIN { RS = ""; FS = "\n" } {
        id = str = rest = ""; plural = 0; part = ""
        for (i = 1; i <= NF; i++) {
            line = $i
            if (line ~ /^msgid_plural /) { plural = 1; part = ""; continue }
            else if (line ~ /^msgid /) { part = "id"; sub(/^msgid /, "", line) }
            else if (line ~ /^msgstr(\[0\])? /) { part = "str"; sub(/^msgstr(\[0\])? /, "", line) }
            else if (line ~ /^msgstr\[/) { part = ""; continue }
            else if (line !~ /^"/) { rest = rest line "\n"; continue }
            if (part == "id") id = id line "\n"; else if (part == "str") str = str line "\n"
        }
        if (id == "\"\"\n") { printf "msgid \"\"\nmsgstr %s\n", str; next }
        if (str == "\"\"\n" || seen[rest str]++) next
        if (plural) printf "%smsgid %smsgid_plural %smsgstr[0] \"\"\n\n", rest, str, str
        else printf "%smsgid %smsgstr \"\"\n\n", rest, str
    }'
}
swap_xliff() {
    sed -e 's/source-language="en"/source-language="zh-CN"/; s/target-language="[^"]*"//' \
        -e 's#<source>.*</source>##; s#<target[^>]*>\(.*\)</target>#<source>\1</source>#'
}

find packages -name '*.html' | grep -v search | sort | take html
find packages -name '*.html' | xargs grep -l '^<?xml' | sort | take xhtml
find packages -path '*zh_*' -name '*.json' | take json
find packages -path '*man/zh_CN*' -name '*.gz' | sort | sed -n 1,12p | while read -r page; do
    gzip -dc "$page" > "samples/$(basename "$page" .gz).txt"
done
find packages -name '*.zh_*.xlf' | while read -r file; do
    swap_xliff < "$file" > "samples/$(basename "$file" .xlf).xliff"
done
find packages /usr/share/locale/zh_CN -path '*zh_*' -name '*.mo' | sort | sed -n 1,30p | while read -r catalogue; do
    name=samples/$(tr / - <<< "${catalogue%.mo}")
    msgunfmt "$catalogue" > "$name.po" 2> log
    swap_po < "$name.po" > "$name-swapped.po"
    [ "$(stat -c %s "$name-swapped.po")" -le 150000 ] || rm "$name.po" "$name-swapped.po"
done
jq -c 'to_entries[] | [.key, (.value | if type == "object" then .message else . end | tostring)]' \
    samples/webext*.json 2> log | sed -n 1,500p > samples/strings.jsonl
jq -r '@csv' samples/strings.jsonl > samples/strings.csv
jq -r '@tsv' samples/strings.jsonl > samples/strings.tsv
for directory in "$@"; do
    (cd "$(dirname "$directory")" && find "$(basename "$directory")" -type f -size -300) | while read -r file; do
        cp "$(dirname "$directory")/$file" "samples/$(tr / - <<< "$file")"
    done
done
find samples -type f -empty -delete
find samples -type f | sed 's/.*\.//' | sort | uniq -c

failed=0
(cd "$source" && ZHEN_SAMPLES=$work/samples "$build/tests/document/test_document_guarantees") |
    cut -c 1-300 || failed=1

"$build/bin/zhen" --greedy -r -o english samples || failed=1
# expect WHAT FILE: what has just been compared is the same.
expect() {
    if ! cmp -s before after; then
        echo "FAILED: $1: $2"
        diff before after | head -5
        failed=1
    fi
}
for file in samples/*; do
    name=$(basename "$file")
    : > before
    : > after
    case $name in
    *.po)
        if msgfmt --check-format -o /dev/null "$file" 2> log; then
            msgfmt --use-fuzzy --check-format -o /dev/null "english/$name" 2> after || true
            sed -i '/warning/d' after
        fi
        expect "valid, format strings kept" "$name" ;;
    *.srt | *.vtt)
        grep -e '-->' "$file" > before || true
        grep -e '-->' "english/$name" > after || true
        expect "times" "$name" ;;
    *.json | *.jsonl)
        jq -c '[paths]' "$file" > before
        jq -c '[paths]' "english/$name" > after
        expect "paths" "$name" ;;
    *.xhtml | *.xliff)
        xmllint --noout --nonet "$file" 2> log && { xmllint --noout --nonet "english/$name" 2> after || true; }
        expect "well-formed" "$name" ;;
    *.html)
        grep -o '<[a-zA-Z/][a-zA-Z0-9]*' "$file" | sort > before
        grep -o '<[a-zA-Z/][a-zA-Z0-9]*' "english/$name" | sort > after
        expect "tags" "$name" ;;
    *.txt | *.csv | *.tsv | *.md)
        wc -l < "$file" > before
        wc -l < "english/$name" > after
        expect "lines" "$name" ;;
    esac
done
exit $failed
