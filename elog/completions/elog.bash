# SPDX-License-Identifier: MIT
#
# Completion of elog for bash, with bash-completion.

# Readline replaces the text after the last = or : by a candidate, unless a quote is open or
# COMP_WORDBREAKS has been changed, so the text before it is removed from the candidates. It may also
# break words at @ (see hostcomplete in bash(1)), and then replaces the text after that.
_elog() {
    local cur words cword line kept='' index breaks=${COMP_WORDBREAKS//[^=:]/}
    _get_comp_words_by_ref -n '=:@' cur words cword || return
    if [[ $cur == [\"\']* ]]; then
        cur=${cur:1}
        words[cword]=$cur
    elif [[ $COMP_WORDBREAKS == *@* && $cur == *@* ]]; then
        kept=${cur%@*}
    elif [[ -n $breaks && $cur == *[$breaks]* ]]; then
        kept=${cur%"${cur##*["$breaks"]}"}
    fi
    while IFS= read -r line; do
        case $line in
            :files)
                compopt -o filenames
                while IFS= read -r line; do
                    COMPREPLY+=("$line")
                done < <(compgen -f -- "${cur#"$kept"}")
                ;;
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
                COMPREPLY+=("${line#"$kept"}")
                ;;
        esac
    done < <("${words[0]}" __complete -- "${words[@]:1:cword}" 2>/dev/null)
}
complete -F _elog elog
