#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds a consumer the way a hand-written makefile does, with the compiler that CXX names.
# The tree was staged, not installed where its .pc files believe it is, hence PREFIX.
# usage: build.sh PACKAGE SOURCE OUTPUT PREFIX [--static]
set -eu

flags() { pkg-config --define-variable=prefix="$prefix" "$@" "$package"; }

package=$1
prefix=$4
# The compiler and the flags are words for the shell to split.
# shellcheck disable=SC2046,SC2086
{
    $CXX -std=c++20 $(flags --cflags) -c "$2" -o "$3.o"
    $CXX "$3.o" -o "$3" $(flags --libs ${5:+"$5"})
}
