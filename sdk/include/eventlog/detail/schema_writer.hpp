// SPDX-License-Identifier: MIT
//
// The schema of a provider, written by the compiler. The form is explained in schema_format.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <eventlog/detail/fixed_string.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/names.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog::detail {

/// Counts bytes when it has no room to write to, else writes them.
class schema_sink {
  public:
    constexpr schema_sink() = default;
    constexpr explicit schema_sink(std::uint8_t* bytes) : bytes_(bytes) {}

    constexpr void number(std::uint64_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            byte(static_cast<std::uint8_t>(value >> (8 * i)));
        }
    }

    constexpr void text(std::string_view text) {
        byte(static_cast<std::uint8_t>(text.size()));
        for (const char character : text) {
            byte(static_cast<std::uint8_t>(character));
        }
    }

    [[nodiscard]] constexpr std::size_t size() const { return size_; }

  private:
    constexpr void byte(std::uint8_t value) {
        if (bytes_ != nullptr) {
            bytes_[size_] = value;
        }
        ++size_;
    }

    std::uint8_t* bytes_ = nullptr;
    std::size_t size_ = 0;
};

template <class Event>
constexpr void check_event_name() {
    constexpr std::string_view name = type_name<Event>();
    static_assert(is_identifier(name.data(), name.size()),
                  "eventlog: the type of an event cannot be its name, which needs 1 to 63 letters, "
                  "digits and _. Use a struct that has a name and is not a template.");
}

template <class Event, std::size_t Index>
constexpr void write_field(schema_sink& sink) {
    constexpr field_place place = event_layout<Event>::places[Index];
    constexpr std::string_view name = field_name<Event, Index>();
    static_assert(is_identifier(name.data(), name.size()),
                  "eventlog: a field's name needs 1 to 63 letters, digits and _. Rename it.");
    sink.number(static_cast<std::uint8_t>(place.type), 1);
    sink.number(0, 1);
    sink.number(1, 2);
    sink.number(place.offset, 2);
    sink.text(name);
}

template <class Event>
constexpr void write_event(schema_sink& sink) {
    using layout = event_layout<Event>;
    check_event_name<Event>();
    sink.number(static_cast<std::uint8_t>(level::info), 1);
    sink.number(0, 1);
    sink.number(layout::fixed_size, 2);
    sink.number(layout::field_count, 2);
    sink.number(0, 8);
    sink.text(type_name<Event>());
    sink.text("");
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        (write_field<Event, Index>(sink), ...);
    }
    (typename layout::indices{});
}

/// Returns where the hash stands.
template <fixed_string Name, class... Events>
constexpr std::size_t write_schema(schema_sink& sink, std::size_t size) {
    sink.number(schema_magic, 4);
    sink.number(schema_version, 2);
    sink.number(sizeof...(Events), 2);
    sink.number(size, 4);
    sink.number(0, 4);
    const std::size_t hash_offset = sink.size();
    sink.number(0, 8);
    sink.text(Name.view());
    (write_event<Events>(sink), ...);
    return hash_offset;
}

template <fixed_string Name, class... Events>
consteval auto make_schema() {
    constexpr std::size_t size = [] {
        schema_sink counter;
        static_cast<void>(write_schema<Name, Events...>(counter, 0));
        return counter.size();
    }();
    static_assert(size <= schema_size_max,
                  "eventlog: the schema of this provider is over 1 MiB. Split the provider.");
    std::array<std::uint8_t, size> bytes{};
    schema_sink writer(bytes.data());
    const std::size_t hash_offset = write_schema<Name, Events...>(writer, size);
    std::uint64_t hash = fnv1a_start;
    for (const std::uint8_t byte : bytes) {
        hash = fnv1a(hash, byte);
    }
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[hash_offset + i] = static_cast<std::uint8_t>(hash >> (8 * i));
    }
    return bytes;
}

}  // namespace eventlog::detail
