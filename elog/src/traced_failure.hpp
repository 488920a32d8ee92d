// SPDX-License-Identifier: MIT
#pragma once

#include "error.hpp"
#include "failure.hpp"

namespace elog {

/// What libeventlog-tracefs says is for the user, as all else.
template <class Call>
auto translated(const Call& call) {
    try {
        return call();
    } catch (const eventlog::tracefs::error& mistake) {
        throw failure("{}", mistake.what());
    }
}

}  // namespace elog
