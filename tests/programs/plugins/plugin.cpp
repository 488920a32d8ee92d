// SPDX-License-Identifier: MIT
//
// A shared object with a provider, to be loaded and unloaded.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// A named namespace, like that of an event in a header of several shared objects.
namespace plugin_events {

struct call {
    std::uint32_t number;
    std::uint32_t by;
};
using plugin = eventlog::provider<"plugin", call>;

}  // namespace plugin_events

using plugin_events::call;
using plugin_events::plugin;

namespace {

[[gnu::noinline]] void emit_call(std::uint32_t number, std::uint32_t by) {
    plugin::emit(call{number, by});
}

[[gnu::noinline]] int is_published() {
    return plugin::status().code == EVENTLOG_STATUS_OK ? 1 : 0;
}

}  // namespace

// Exported functions have no objects on the stack. AddressSanitizer stores a function's address
// next to such objects, and resolves its name to the first function of that name in the process:
// that of another plugin, which could then not be unloaded.
extern "C" [[gnu::visibility("default")]] void call_plugin(std::uint32_t number, std::uint32_t by) {
    emit_call(number, by);
}

extern "C" [[gnu::visibility("default")]] int is_plugin_published() {
    return is_published();
}
