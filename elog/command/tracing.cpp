// SPDX-License-Identifier: MIT
#include "tracing.hpp"

#include <algorithm>
#include <utility>

#include "failure.hpp"
#include "running_providers.hpp"
#include "schema_sources.hpp"
#include "usage_failure.hpp"

namespace elog {
namespace {

/// What programs of this user have published. Where that cannot be read, events are shown by what
/// the kernel says about them.
std::vector<provider_schema> read_published() {
    std::vector<provider_schema> schemas;
    try {
        for (provider_instance& provider : find_running_providers().providers) {
            add_once(schemas, std::move(provider.schema));
        }
    } catch (const failure&) {
    }
    return schemas;
}

}  // namespace

void check_tracing(const listening_arguments& arguments) {
    const bool has_mark =
        std::any_of(arguments.events.begin(), arguments.events.end(),
                    [](const std::string& pattern) { return pattern.ends_with('#'); });
    if (!arguments.sessions.empty() || has_mark) {
        throw usage_failure("The kernel's tracing knows no sessions: pick them with --where, or "
                            "listen via memory.");
    }
}

tracing_options make_tracing_options(const listening_arguments& arguments,
                                     const subscription_options& options) {
    tracing_options wanted{.patterns = options.patterns,
                           .process_names = arguments.process_names,
                           .buffer_size = options.buffer_size * options.buffers_per_cpu,
                           .overwrite = options.overwrite,
                           .published = read_published};
    for (const std::uint64_t pid : arguments.pids) {
        wanted.pids.push_back(static_cast<std::uint32_t>(pid));
    }
    return wanted;
}

}  // namespace elog
