# bash completion for zhen
_zhen() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} sign=
    if [ "$word" = "=" ]; then
        word="" sign="="
    elif [ "$before" = "=" ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]} sign="="
    fi
    compopt -o default 2> /dev/null
    case $before in
    --bilingual) # its value may be missing: it has to stand behind a sign
        if [ -n "$sign" ]; then
            mapfile -t COMPREPLY < <(compgen -W "tsv interleaved" -- "$word")
            return
        fi ;;
    -f | --format)
        mapfile -t COMPREPLY < <(compgen -W "text markdown html xhtml srt vtt po json jsonl csv tsv xliff" -- "$word")
        return ;;
    --encoding)
        mapfile -t COMPREPLY < <(compgen -W "UTF-8 UTF-16 GB18030 GBK GB2312 Big5" -- "$word")
        return ;;
    -m | --model | info | quantize)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return ;;
    -b | --beam | -n | --nbest | -t | --threads | --jobs | --length-penalty | --max-length | --column | --json-path)
        return ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--input --output= --recursive --format= --encoding= \
            --paragraphs --column= --json-path= --bilingual --json --nbest= --resume --jobs= \
            --keep-going --fail-fast --model= --beam= --greedy --length-penalty= --max-length= \
            --no-guard --threads= --quiet --verbose --version --help" -- "$word")
        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
    elif [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "info quantize" -- "$word"; compgen -f -- "$word")
    fi
}
complete -F _zhen zhen
