// SPDX-License-Identifier: MIT
//
// Programs whose library of eventlog is older than a subscription, which they leave alone: their
// events are not in it, and they cannot say so themselves.
#pragma once

#include <linux/eventlog.h>

#include <vector>

#include "discovery/running_subscriptions.hpp"

namespace elog {

/// Says how many processes that run, and have events that it wants, cannot join the subscription;
/// nothing if all can.
void warn_incompatible_processes(const eventlog_region& subscription);

/// The same of each of these.
void warn_incompatible_processes(const std::vector<running_subscription>& subscriptions);

}  // namespace elog
