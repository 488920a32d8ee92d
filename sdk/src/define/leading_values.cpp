// SPDX-License-Identifier: MIT
#include "define/leading_values.hpp"

#include <algorithm>
#include <cstddef>

#include <eventlog/schema_format.hpp>

#include "define/emit_values.hpp"

namespace eventlog::core {
namespace {

/// Out of line, so that only large events use much stack.
template <std::size_t ValuesMax>
[[gnu::noinline]] eventlog_error emit_joined(eventlog_provider& provider, std::uint32_t id,
                                             const defined_event& event, value_list leading,
                                             value_list values) noexcept {
    eventlog_value all[ValuesMax];
    std::copy(values.begin(), values.end(), std::copy(leading.begin(), leading.end(), all));
    return emit_defined(provider, id, event, {all, leading.size() + values.size()});
}

}  // namespace

eventlog_error emit_with_leading(eventlog_provider& provider, std::uint32_t id,
                                 const defined_event& event, value_list leading,
                                 value_list values) noexcept {
    if (values.size() <= 16 - leading_values_max) {
        return emit_joined<16>(provider, id, event, leading, values);
    }
    return values.size() <= schema_format::fields_max - leading.size()
               ? emit_joined<schema_format::fields_max>(provider, id, event, leading, values)
               : EVENTLOG_ERROR_VALUE_COUNT;
}

}  // namespace eventlog::core
