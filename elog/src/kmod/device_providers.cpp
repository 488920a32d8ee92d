// SPDX-License-Identifier: MIT
#include "kmod/device_providers.hpp"

#include <linux/eventlog_device.h>
#include <sys/ioctl.h>

#include <cstring>
#include <vector>

#include "base/user_error.hpp"

namespace elog {
namespace {

/// Replaces `query` by the next provider; false if it was the last one.
bool query_next_provider(int device, eventlog_provider_query& query,
                         std::vector<std::uint8_t>& schema) {
    const std::uint32_t behind = query.provider;
    query = {};
    query.size = sizeof query;
    query.provider = behind;
    query.schema = reinterpret_cast<std::uintptr_t>(schema.data());
    query.schema_size = static_cast<std::uint32_t>(schema.size());
    return ::ioctl(device, EVENTLOG_NEXT_PROVIDER, &query) == 0;
}

/// A process outside of this pid namespace has number 0 as well, but a start time.
bool is_kernel_provider(const eventlog_provider_query& query) {
    return query.pid == 0 && query.start_time == 0;
}

device_provider provider_of(const eventlog_provider_query& query,
                            const std::vector<std::uint8_t>& schema) {
    device_provider provider;
    provider.is_kernel_provider = is_kernel_provider(query);
    provider.pid = query.pid;
    provider.uid = query.uid;
    provider.process.assign(&query.process[0], ::strnlen(&query.process[0], sizeof query.process));
    provider.schema = provider_schema::parse({schema.data(), query.schema_size});
    return provider;
}

}  // namespace

void for_each_device_provider(int device, const std::function<void(device_provider&&)>& take) {
    std::vector<std::uint8_t> schema(EVENTLOG_SCHEMA_SIZE_MAX);
    eventlog_provider_query query{};
    while (query_next_provider(device, query, schema)) {
        if (query.schema_size > schema.size()) {
            continue;
        }
        try {
            take(provider_of(query, schema));
        } catch (const user_error&) {
            // Its events will be shown without names.
        }
    }
}

}  // namespace elog
