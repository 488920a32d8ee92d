// SPDX-License-Identifier: MIT
//
// Builds records of a schema given as text, with values set by field name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/clock_converter.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"

namespace eventlog::test {

class test_record {
  public:
    test_record(const elog::event_schema& event, std::uint16_t number);

    /// Fails the test if the event has no such field. Marks an optional field as present.
    void set(std::string_view field, std::uint64_t value);
    void set(std::string_view field, std::int64_t value) {
        set(field, static_cast<std::uint64_t>(value));
    }
    void set(std::string_view field, double value);
    void set(std::string_view field, float value);
    void set_bytes(std::string_view field, const std::vector<std::uint8_t>& bytes);
    /// A byte string, or the elements of a sequence.
    void set_variable(std::string_view field, const std::vector<std::uint8_t>& bytes);
    /// nullptr: a null pointer.
    void set_text(std::string_view field, const char* text);

    /// Everything but the payload.
    [[nodiscard]] elog::record_view& header() noexcept { return header_; }
    /// A view of the current content.
    [[nodiscard]] elog::record_view view() const noexcept;
    /// As in a ring: header, payload, padding.
    [[nodiscard]] std::vector<std::uint8_t> bytes() const;

  private:
    const elog::field_schema& set_presence_bit(std::string_view field);
    void write(std::size_t offset, const void* bytes, std::size_t size);

    const elog::event_schema* event_;
    elog::record_view header_{};
    std::vector<std::uint8_t> payload_;
};

class record_builder {
  public:
    /// Fails the test if the schema is rejected.
    record_builder(std::string_view schema, std::string_view process, std::uint32_t pid,
                   std::uint32_t id = 0);

    [[nodiscard]] const elog::provider_instance& provider() const noexcept { return provider_; }
    [[nodiscard]] test_record record(std::string_view event) const;

    /// Converts record times, which count nanoseconds from 2020-09-13T12:26:40Z.
    [[nodiscard]] static const elog::clock_converter& clock();

  private:
    elog::provider_instance provider_;
};

}  // namespace eventlog::test
