// SPDX-License-Identifier: MIT
//
// Conversion of the errors of libeventlog-tracefs.
#pragma once

#include "base/user_error.hpp"
#include "kernel/error.hpp"

namespace elog {

/// The event no longer exists.
class kernel_trace_event_gone : public user_error {
  public:
    using user_error::user_error;
};

/// Turns errors of libeventlog-tracefs into user_error.
template <class Call>
auto convert_tracefs_errors(const Call& call) {
    try {
        return call();
    } catch (const eventlog::tracefs::event_gone& mistake) {
        throw kernel_trace_event_gone("{}", mistake.what());
    } catch (const eventlog::tracefs::error& mistake) {
        throw user_error("{}", mistake.what());
    }
}

}  // namespace elog
