// SPDX-License-Identifier: MIT
#include "discovery/kernel_providers.hpp"

#include <fcntl.h>
#include <linux/eventlog_device.h>

#include <utility>

#include "kmod/device_providers.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

std::vector<running_provider> find_kernel_providers() {
    std::vector<running_provider> found;
    const eventlog::core::unique_fd device(
        ::open(EVENTLOG_DEVICE_PATH, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!device) {
        return found;
    }
    for_each_device_provider(device.get(), [&](device_provider&& each) {
        if (!each.is_kernel_provider) {
            return;
        }
        running_provider& provider = found.emplace_back();
        provider.uid = each.uid;
        provider.process = std::move(each.process);
        provider.schema = std::move(each.schema);
        // The device does not report listeners.
        provider.gate.resize(provider.schema.events.size());
    });
    return found;
}

}  // namespace elog
