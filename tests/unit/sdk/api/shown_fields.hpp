// SPDX-License-Identifier: MIT
//
// The fields of a received record as text, as elog prints them.
#pragma once

#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "listener.hpp"
#include "schema/value_text.hpp"

namespace eventlog::test {

/// The fields of the only record, each as name=value.
inline std::string shown_fields(event_listener& listener) {
    listener.poll();
    EXPECT_EQ(listener.records().size(), 1U);
    const received_record& record = listener.records().at(0);
    const elog::provider_schema& schema = listener.providers().at(record.header.provider).schema;
    fmt::memory_buffer out;
    for (const elog::field_schema& field : schema.events.at(record.header.event).fields) {
        fmt::format_to(std::back_inserter(out), "{}{}=", out.size() == 0 ? "" : " ", field.name);
        elog::append_field(out, schema, field, record.payload);
    }
    return {out.data(), out.size()};
}

}  // namespace eventlog::test
