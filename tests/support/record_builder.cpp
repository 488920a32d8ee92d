// SPDX-License-Identifier: MIT
#include "record_builder.hpp"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "record/ring_records.hpp"
#include "schema/schema_text.hpp"

namespace eventlog::test {

test_record::test_record(const elog::event_schema& event, std::uint16_t number)
    : event_(&event), payload_(event.fixed_size) {
    header_.event = number;
}

const elog::field_schema& test_record::set_presence_bit(std::string_view field) {
    const auto found = std::find_if(event_->fields.begin(), event_->fields.end(),
                                    [&](const auto& each) { return each.name == field; });
    if (found == event_->fields.end()) {
        ADD_FAILURE() << "no field " << field;
        return event_->fields.front();
    }
    if (found->presence != schema_format::no_index) {
        payload_[found->presence] = 1;
    }
    return *found;
}

void test_record::write(std::size_t offset, const void* bytes, std::size_t size) {
    ASSERT_LE(offset + size, payload_.size());
    std::copy_n(static_cast<const std::uint8_t*>(bytes), size,
                payload_.begin() + static_cast<std::ptrdiff_t>(offset));
}

void test_record::set(std::string_view field, std::uint64_t value) {
    const elog::field_schema& schema = set_presence_bit(field);
    // Little-endian machines only.
    write(schema.offset, &value, size_of(schema.type));
}

void test_record::set(std::string_view field, double value) {
    write(set_presence_bit(field).offset, &value, sizeof value);
}

void test_record::set(std::string_view field, float value) {
    write(set_presence_bit(field).offset, &value, sizeof value);
}

void test_record::set_bytes(std::string_view field, const std::vector<std::uint8_t>& bytes) {
    write(set_presence_bit(field).offset, bytes.data(), bytes.size());
}

void test_record::set_variable(std::string_view field, const std::vector<std::uint8_t>& bytes) {
    const elog::field_schema& schema = set_presence_bit(field);
    std::uint32_t word = 0;
    if (!bytes.empty()) {
        word = static_cast<std::uint32_t>(bytes.size() << 16U |
                                          (payload_.size() - schema.offset - sizeof word));
        payload_.insert(payload_.end(), bytes.begin(), bytes.end());
    }
    write(schema.offset, &word, sizeof word);
}

void test_record::set_text(std::string_view field, const char* text) {
    set_variable(field, text == nullptr
                            ? std::vector<std::uint8_t>()
                            : std::vector<std::uint8_t>(text, text + std::strlen(text) + 1));
}

elog::record_view test_record::view() const noexcept {
    elog::record_view record = header_;
    record.payload = payload_;
    return record;
}

std::vector<std::uint8_t> test_record::bytes() const {
    std::vector<std::uint8_t> all;
    elog::append_record(all, view());
    return all;
}

record_builder::record_builder(std::string_view schema, std::string_view process, std::uint32_t pid,
                               std::uint32_t id) {
    provider_.id = id;
    provider_.pid = pid;
    provider_.process = process;
    try {
        provider_.schema = elog::parse_schema_text("schema", schema).schema;
    } catch (const elog::user_error& error) {
        ADD_FAILURE() << error.what();
    }
}

test_record record_builder::record(std::string_view event) const {
    const auto& events = provider_.schema.events;
    const auto found = std::find_if(events.begin(), events.end(),
                                    [&](const auto& each) { return each.name == event; });
    if (found == events.end()) {
        ADD_FAILURE() << "no event " << event;
    }
    test_record made(*found, static_cast<std::uint16_t>(found - events.begin()));
    made.header().provider = provider_.id;
    return made;
}

const elog::clock_converter& record_builder::clock() {
    static const elog::clock_converter table = [] {
        elog::clock_converter made(EVENTLOG_CLOCK_MONOTONIC);
        made.add({0, 0, 1'600'000'000'000'000'000});
        return made;
    }();
    return table;
}

}  // namespace eventlog::test
