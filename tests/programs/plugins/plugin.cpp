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

namespace {

[[gnu::noinline]] void emit_call(std::uint32_t number, std::uint32_t by) {
    plugin::emit(call{number, by});
}

[[gnu::noinline]] int is_published() {
    return plugin::status().code == EVENTLOG_OK ? 1 : 0;
}

}  // namespace

// What is exported has nothing on the stack. AddressSanitizer writes a function's address next to
// what it has there, and by its name that is the address of the first such function in the process:
// another plugin's, which could then not be unloaded.
extern "C" [[gnu::visibility("default")]] void call_plugin(std::uint32_t number, std::uint32_t by) {
    emit_call(number, by);
}

extern "C" [[gnu::visibility("default")]] int is_plugin_published() {
    return is_published();
}
