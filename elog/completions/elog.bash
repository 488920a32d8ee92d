# SPDX-License-Identifier: MIT
#
# Completion of elog for bash, with bash-completion.
#
# Candidates have names of other users' processes, which may be commands of a shell. Readline inserts
# a candidate as it is, so each one is quoted.

# Sets `plain` to the text of a partly typed word, `open` to its open quote, and `kept` to the part of
# the text that readline keeps: it replaces the text after an open quote, or after the last = or :
# unless COMP_WORDBREAKS has been changed. It may also break words at @ (see hostcomplete in bash(1)),
# and then replaces the @ as well.
_elog_parse_word() {
    local rest=$1 each before_quote=''
    plain='' open='' kept=''
    while [[ -n $rest ]]; do
        each=${rest:0:1}
        rest=${rest:1}
        if [[ -n $open && $each == "$open" ]]; then
            open='' kept=$before_quote
        elif [[ $open == \' ]]; then
            plain+=$each
        elif [[ $each == \\ && (-z $open || $rest == [\"\\\$\`]*) ]]; then
            plain+=${rest:0:1}
            rest=${rest:1}
        elif [[ -z $open && $each == [\"\'] ]]; then
            open=$each before_quote=$kept kept=$plain
        elif [[ -z $open && $each == [=:@] && $COMP_WORDBREAKS == *"$each"* ]]; then
            [[ $each != @ ]] || kept=$plain
            plain+=$each
            [[ $each == @ ]] || kept=$plain
        else
            plain+=$each
        fi
    done
}

# Sets `quoted` to a candidate in the form that the shell reads as that text behind the open quote.
_elog_quote() {
    quoted=$1
    if [[ $open == \' ]]; then
        quoted=${quoted//\'/\'\\\'\'}
    elif [[ $open == \" ]]; then
        quoted=${quoted//\\/\\\\}
        quoted=${quoted//\"/\\\"}
        quoted=${quoted//\$/\\\$}
        quoted=${quoted//\`/\\\`}
        quoted=${quoted//\!/\"\'\!\'\"}
    else
        printf -v quoted %q "$quoted"
    fi
    # Readline closes the quote unless it finds that character at the end.
    if [[ -n $open && $quoted == *"$open" ]]; then
        quoted+=$open
    fi
}

_elog() {
    local cur words cword line plain open kept quoted index files=''
    local -a candidates=()
    _get_comp_words_by_ref -n '=:@' cur words cword || return
    _elog_parse_word "$cur"
    words[cword]=$plain
    while IFS= read -r line; do
        case $line in
            :files) files=1 ;;
            :commands)
                for ((index = 1; index < COMP_CWORD; index++)); do
                    if [[ ${COMP_WORDS[index]} == -- ]]; then
                        _command_offset "$((index + 1))"
                        return
                    fi
                done
                ;;
            *)
                line=${line%%$'\t'*}
                candidates+=("${line#"$kept"}")
                ;;
        esac
    done < <("${words[0]}" __complete -- "${words[@]:1:cword}" 2>/dev/null)
    for line in "${candidates[@]}"; do
        _elog_quote "$line"
        # Readline quotes the names of files itself, and everything else as well then.
        if [[ -z $files || $quoted == "$line" ]]; then
            COMPREPLY+=("$quoted")
        fi
    done
    if [[ -n $files ]]; then
        compopt -o filenames
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -f -- "${plain#"$kept"}")
    fi
}
complete -F _elog elog
