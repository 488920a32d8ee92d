#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds a consumer the way a hand-written makefile does, with the compiler that CXX names.
# PKG_CONFIG_PATH finds the .pc files, which know where they are.
# usage: build.sh PACKAGE SOURCE OUTPUT [--static]
set -eu

package=$1
flags() { pkg-config "$@" "$package"; }

# The compiler and the flags are words for the shell to split.
# shellcheck disable=SC2046,SC2086
{
    $CXX -std=c++20 $(flags --cflags) -c "$2" -o "$3.o"
    $CXX "$3.o" -o "$3" $(flags --libs ${4:+"$4"})
}
