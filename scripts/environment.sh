# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Sourced by ./dev: the Python and the compiler cache of all its commands. Every clone shares one
# cache: paths are relative to the clone, so an object file may name the sources of the clone that
# compiled it first.

# The distribution's Python, which has the packages of setup. The tests start Python a thousand
# times, and the wrapper of a version manager takes ten times as long to start.
if [[ -x /usr/bin/python3 && $(command -v python3) != /usr/bin/python3 ]]; then
    mkdir -p build/tools
    ln -sf /usr/bin/python3 build/tools/python3
    export PATH=$PWD/build/tools:$PATH
fi
if command -v ccache >/dev/null; then
    export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-~/.cache}/eventlog/ccache}
    export CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-8G}
    # ccache compares the content of precompiled headers; no source uses __TIME__.
    export CCACHE_SLOPPINESS=pch_defines,time_macros
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
