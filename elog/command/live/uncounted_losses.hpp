// SPDX-License-Identifier: MIT
//
// Warnings that a live recording may lack events which its losses do not include.
#pragma once

#include "record/recording_summary.hpp"

namespace elog {

void report_uncounted_losses(const recording_summary& summary);

}  // namespace elog
