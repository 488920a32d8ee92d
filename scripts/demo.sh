#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds what the demonstration runs, and runs it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh demo
# shellcheck source=scripts/environment.sh
source scripts/environment.sh
scripts/build.sh demo elog order_service
ELOG=$PWD/build/demo/elog/elog EXAMPLES=$PWD/build/demo/examples exec examples/demo.sh
