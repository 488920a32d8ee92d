#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Installs the Debian packages that a task needs. `setup.sh --list TASK` prints them with their reasons.
set -euo pipefail

packages=$(cd "$(dirname "${BASH_SOURCE[0]}")/packages" && pwd)

die() {
    printf 'setup: %s\n' "$1" >&2
    exit "${2:-1}"
}

tasks() {
    basename -s .txt "$packages"/*.txt | paste -sd ' '
}

# Lines of "PACKAGE REASON" of a task and of the tasks that it includes.
list_packages() {
    local file=$packages/$1.txt name reason
    [[ -f $file ]] || die "there is no task called $1. There are: $(tasks)." 2
    while read -r name reason; do
        case $name in
            '#' | '') ;;
            include) list_packages "$reason" ;;
            *) printf '%s %s\n' "$name" "$reason" ;;
        esac
    done <"$file"
}

# The lines of the given ones whose package is not installed, each package once.
missing_of() {
    local installed
    installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' | sort -u)
    while read -r name reason; do
        if ! grep -qxF "installed $name" <<<"$installed"; then
            printf '%-21s %s\n' "$name" "$reason"
        fi
    done < <(awk '!seen[$1]++' <<<"$1")
}

install_packages() {
    local missing=$1 as_root=() names
    if ((EUID != 0)); then
        command -v sudo >/dev/null ||
            die "installing packages needs root or sudo. Run as root: ./dev setup ${wanted[*]}"
        as_root=(sudo)
    fi
    mapfile -t names < <(cut -d ' ' -f 1 <<<"$missing")
    printf 'setup: installs\n%s\n' "$missing"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends install "${names[@]}"
}

if [[ ${1-} == --list ]]; then
    shift
    for task in "${@:-test}"; do
        list_packages "$task"
    done | awk '!seen[$1]++'
    exit
fi
wanted=("${@:-test}")
lines=$(for task in "${wanted[@]}"; do list_packages "$task"; done)
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    printf 'setup: this is not Debian. Install what these Debian packages contain:\n%s\n' "$lines"
    exit
fi
missing=$(missing_of "$lines")
if [[ -n $missing ]]; then
    install_packages "$missing"
else
    echo "setup: all packages for ${wanted[*]} are installed"
fi
