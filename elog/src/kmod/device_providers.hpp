// SPDX-License-Identifier: MIT
//
// Providers that /dev/eventlog knows of: those of programs, and those of the kernel and its
// modules, which publish themselves in no directory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "schema/provider_schema.hpp"

namespace elog {

struct device_provider {
    bool is_kernel_provider = false;
    std::uint32_t pid = 0;  // 0 also where it is of another pid namespace
    std::uint32_t uid = 0;
    std::string process;
    provider_schema schema;
};

/// Hands over those that whoever has opened the device may hear. What makes no sense, of a module
/// of another version, is left out.
void for_each_device_provider(int device, const std::function<void(device_provider&&)>& take);

}  // namespace elog
