#compdef elog
# SPDX-License-Identifier: MIT

_elog() {
    local line name files=0
    local -a typed described
    typed=("${(@Q)words[2,CURRENT]}")
    [[ -z $QIPREFIX ]] || typed[-1]=$PREFIX  # behind an open quote
    for line in "${(@f)$("${(Q)words[1]}" __complete -- "${typed[@]}" 2>/dev/null)}"; do
        case $line in
            '') ;;
            :files) files=1 ;;
            :commands)
                shift "${words[(i)--]}" words
                (( CURRENT = ${#words} ))
                _normal
                ;;
            *)
                # _describe reads a backslash and a colon as its own characters.
                name=${line%%$'\t'*}
                name=${name//\\/\\\\}
                described+=("${name//:/\\:}:${line#*$'\t'}")
                ;;
        esac
    done
    (( ${#described} )) && _describe elog described
    if (( files )); then
        compset -P '--*='
        _files
    fi
}
_elog "$@"
