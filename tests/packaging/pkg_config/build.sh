#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds the consumer the way a hand-written makefile does.
# The tree was staged, not installed where its eventlog.pc believes it is, hence PREFIX.
# usage: build.sh COMPILER OUTPUT PREFIX
set -eu

flags() { pkg-config --define-variable=prefix="$prefix" "$1" eventlog; }

prefix=$3
source=$(dirname "$0")/../main.cpp
# The flags are words for the shell to split.
# shellcheck disable=SC2046
"$1" -std=c++20 $(flags --cflags) "$source" -o "$2" $(flags --libs)
