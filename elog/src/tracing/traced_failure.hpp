// SPDX-License-Identifier: MIT
#pragma once

#include "base/failure.hpp"
#include "kernel/error.hpp"

namespace elog {

/// There is no such event any more.
class traced_event_gone : public failure {
  public:
    using failure::failure;
};

/// What libeventlog-tracefs says is for the user, as all else.
template <class Call>
auto translated(const Call& call) {
    try {
        return call();
    } catch (const eventlog::tracefs::event_gone& mistake) {
        throw traced_event_gone("{}", mistake.what());
    } catch (const eventlog::tracefs::error& mistake) {
        throw failure("{}", mistake.what());
    }
}

}  // namespace elog
