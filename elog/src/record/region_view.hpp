// SPDX-License-Identifier: MIT
//
// An open region of a subscription, as its readers see it.
#pragma once

#include <linux/eventlog.h>

#include "platform/unique_fd.hpp"
#include "ring/region.hpp"

namespace elog {

/// The caller owns all members.
struct region_view {
    const eventlog::core::unique_fd& file;
    const eventlog_region& header;
    const eventlog::core::region_geometry& geometry;
};

}  // namespace elog
