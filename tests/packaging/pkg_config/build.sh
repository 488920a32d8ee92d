#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds a consumer the way a hand-written makefile does.
# The tree was staged, not installed where its .pc files believe it is, hence PREFIX.
# usage: build.sh PACKAGE COMPILER SOURCE OUTPUT PREFIX [--static]
set -eu

flags() { pkg-config --define-variable=prefix="$prefix" "$@" "$package"; }

package=$1
prefix=$5
# The flags are words for the shell to split.
# shellcheck disable=SC2046
"$2" -std=c++20 $(flags --cflags) "$3" -o "$4" $(flags --libs ${6:+"$6"})
