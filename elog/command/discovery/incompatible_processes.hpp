// SPDX-License-Identifier: MIT
//
// Processes whose library of eventlog is older than a subscription.
//
// They ignore the subscription: their events are not in it, and they cannot report that.
#pragma once

#include <linux/eventlog.h>

#include <vector>

#include "discovery/running_subscriptions.hpp"

namespace elog {

/// Warns of running processes that have matching events but cannot attach to the subscription.
/// Writes nothing if there are none.
void warn_incompatible_processes(const eventlog_region& subscription);

/// The same for each of these subscriptions.
void warn_incompatible_processes(const std::vector<running_subscription>& subscriptions);

}  // namespace elog
