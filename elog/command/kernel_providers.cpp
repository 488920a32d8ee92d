// SPDX-License-Identifier: MIT
#include "kernel_providers.hpp"

#include <fcntl.h>
#include <linux/eventlog_device.h>
#include <sys/ioctl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "failure.hpp"
#include "unique_fd.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

/// The next behind `query`; false if there is none any more.
bool ask(int device, eventlog_provider_query& query, std::vector<std::uint8_t>& schema) {
    const std::uint32_t behind = query.provider;
    query = {};
    query.size = sizeof query;
    query.provider = behind;
    query.schema = reinterpret_cast<std::uintptr_t>(schema.data());
    query.schema_size = static_cast<std::uint32_t>(schema.size());
    return ::ioctl(device, EVENTLOG_NEXT_PROVIDER, &query) == 0;
}

/// A process outside of this pid namespace has no number either, but it has begun some time.
bool is_kernels(const eventlog_provider_query& query) {
    return query.pid == 0 && query.start_time == 0;
}

running_provider provider_of(const eventlog_provider_query& query,
                             const std::vector<std::uint8_t>& schema) {
    running_provider provider;
    provider.uid = query.uid;
    provider.process.assign(&query.process[0], ::strnlen(&query.process[0], sizeof query.process));
    provider.schema = provider_schema::parse({schema.data(), query.schema_size});
    // Who listens to it is not told.
    provider.gate.resize(provider.schema.events.size());
    return provider;
}

}  // namespace

std::vector<running_provider> find_kernel_providers() {
    std::vector<running_provider> found;
    const core::unique_fd device(
        ::open(EVENTLOG_DEVICE_PATH, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!device) {
        return found;
    }
    std::vector<std::uint8_t> schema(EVENTLOG_SCHEMA_SIZE_MAX);
    eventlog_provider_query query{};
    while (ask(device.get(), query, schema)) {
        if (!is_kernels(query) || query.schema_size > schema.size()) {
            continue;
        }
        try {
            found.push_back(provider_of(query, schema));
        } catch (const failure&) {
            // Of a module of another version; its events are shown without names when they come.
        }
    }
    return found;
}

}  // namespace elog
