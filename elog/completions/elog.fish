# SPDX-License-Identifier: MIT
function __elog_complete
    set -l typed (commandline -opc) (commandline -ct)
    set -l elog $typed[1]
    for line in ($elog __complete -- $typed[2..] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (string replace -r -- '^--[^=]*=' '' (commandline -ct))
            case :commands
                set -l command $typed[(math 1 + (contains -i -- -- $typed))..]
                complete -C (string escape --no-quoted -- $command | string join ' ')
            case '*'
                # Not echo, for which a name may be an option.
                printf '%s\n' $line
        end
    end
end
complete -c elog -f -a '(__elog_complete)'
