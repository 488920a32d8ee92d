// SPDX-License-Identifier: MIT
//
// Providers known to /dev/eventlog: those of applications, and those of the kernel and its modules,
// which are published in no directory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "schema/provider_schema.hpp"

namespace elog {

struct device_provider {
    bool is_kernel_provider = false;
    std::uint32_t pid = 0;  // 0 also if it is in another pid namespace
    std::uint32_t uid = 0;
    std::string process;
    provider_schema schema;
};

/// Passes on the providers whose events the opener of `device` may receive. Skips entries that are
/// invalid, for example from a module of another version.
void for_each_device_provider(int device, const std::function<void(device_provider&&)>& take);

}  // namespace elog
