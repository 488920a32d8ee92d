// SPDX-License-Identifier: MIT
//
// A shared object with a provider of its own, to be loaded and unloaded.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// Not in an unnamed namespace: as an event in a header that several shared objects include.
namespace plugin_events {

struct call {
    std::uint32_t number;
    std::uint32_t by;
};
using plugin = eventlog::provider<"plugin", call>;

}  // namespace plugin_events

using plugin_events::call;
using plugin_events::plugin;

extern "C" [[gnu::visibility("default")]] void call_plugin(std::uint32_t number, std::uint32_t by) {
    plugin::emit(call{number, by});
}

extern "C" [[gnu::visibility("default")]] int is_plugin_published() {
    return plugin::status().code == EVENTLOG_OK ? 1 : 0;
}
