# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Sourced by ./dev: the compiler cache of all its commands. Every clone shares one cache: paths are
# relative to the clone, so an object file may name the sources of the clone that compiled it first.
if command -v ccache >/dev/null; then
    export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-~/.cache}/eventlog/ccache}
    export CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-8G}
    # ccache compares the content of precompiled headers; no source uses __TIME__.
    export CCACHE_SLOPPINESS=pch_defines,time_macros
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
