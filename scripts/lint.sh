#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The checks of sources that need no build, and the formatter:
# lint.sh format|shell|python|rules|reformat.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Files of the project: those in the index and new ones, without those that are deleted.
list_files() {
    local file
    git ls-files --cached --others --exclude-standard | while read -r file; do
        if [[ -f $file ]]; then
            printf '%s\n' "$file"
        fi
    done
}

# The kernel's code and the modules of tests and benchmarks follow the kernel's coding style.
list_formatted_files() {
    list_files | grep -E '\.(c|cpp|hpp|h)$' |
        grep -vE '^(kernel/|bench/kernel/module/|tests/generated/kernel_|tests/vm/(nested|nmi|stubs|subscriber)/)'
}

# Prints the files whose first two lines name no licence.
list_unlicensed_files() {
    list_files | grep -v '^LICENSES/' | grep -E \
        -e '\.(cpp|hpp|h|c|py|sh|bash|zsh|fish|md|map|in|cmake|config|[1-9])$' \
        -e '(^|/)(CMakeLists\.txt|meson[^/]*|sources\.txt|dev|run|init|\.clang[^/]*|\.editorconfig|\.gitignore)$' |
        xargs -r awk '
            FNR == 1 { licensed[FILENAME] = 0 }
            FNR <= 2 && /SPDX-License-Identifier: / { licensed[FILENAME] = 1 }
            FNR == 2 { nextfile }
            END { for (name in licensed) if (!licensed[name]) print name }'
}

check_licenses() {
    local files
    files=$(list_unlicensed_files)
    if [[ -n $files ]]; then
        printf 'These files name no licence in their first two lines (SPDX-License-Identifier):\n%s\n' "$files"
        return 1
    fi
}

# Names that a module or class does not have: some lines run on a new machine only.
check_python() {
    local files folders
    files=$(list_files | grep '\.py$')
    folders=$(xargs -n 1 dirname <<<"$files" | sort -u | paste -sd :)
    # The generated modules exist in builds.
    xargs env PYTHONPATH="$folders" pylint --jobs "$(nproc)" --errors-only --ignored-modules=tour,zoo <<<"$files"
}

case ${1-} in
    format) list_formatted_files | xargs -r clang-format --dry-run -Werror ;;
    reformat) list_formatted_files | xargs -r clang-format -i ;;
    shell) list_files | grep -E '^(dev|\.ci/run|tests/vm/guest/init|.*\.(sh|bash))$' | xargs -r shellcheck -x ;;
    python) check_python ;;
    rules)
        check_licenses
        python3 -B scripts/lint/structure.py
        python3 -B scripts/lint/vocabulary.py
        python3 -B scripts/lint/version.py
        python3 -B scripts/lint/tested_rows.py
        ;;
    *)
        echo 'usage: lint.sh format|shell|python|rules|reformat' >&2
        exit 2
        ;;
esac
