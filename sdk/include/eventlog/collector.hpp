// SPDX-License-Identifier: MIT
//
// eventlog::collector: a process collects its own events into memory that it owns. Nothing else
// takes part, no directory, no file and no other process. collector.h has the same functions for C,
// and the rules.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <eventlog/collector.h>
#include <eventlog/detail/dynamic_value.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

template <class Type>
inline constexpr bool is_vector_of_elements = false;
template <class Element>
inline constexpr bool is_vector_of_elements<std::vector<Element>> = !std::is_same_v<Element, bool>;

}  // namespace detail

/// An event that a collector has returned. It owns its payload, and shares a copy of the schema, so
/// that its fields can be read as long as it lives.
class collected_event {
  public:
    [[nodiscard]] std::string_view provider() const noexcept { return head_.provider; }
    [[nodiscard]] std::string_view name() const noexcept { return head_.event_name; }
    [[nodiscard]] std::chrono::steady_clock::time_point time() const noexcept {
        return std::chrono::steady_clock::time_point(
            std::chrono::nanoseconds(static_cast<std::int64_t>(head_.time)));
    }
    [[nodiscard]] std::uint32_t thread() const noexcept { return head_.thread; }
    [[nodiscard]] std::uint16_t cpu() const noexcept { return head_.cpu; }
    /// Events of the same CPU that were lost just before this one.
    [[nodiscard]] std::uint64_t lost_before() const noexcept { return head_.lost_before; }
    [[nodiscard]] bool is_truncated() const noexcept { return head_.is_truncated; }
    [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }

    /// The value of a field; EVENTLOG_VALUE_ABSENT also if the event has no such field.
    [[nodiscard]] eventlog_value value(std::string_view field) const {
        eventlog_value found = eventlog_absent();
        static_cast<void>(
            eventlog_collected_value(&head_, payload_.data(), std::string(field).c_str(), &found));
        return found;
    }

    /// The value of a field as a number, bool, enumeration, text, or as a std::vector of the
    /// elements of an array, a sequence or bytes. Nothing if the event has no such field, the field
    /// has no value, or the type does not hold it. A text stays valid as long as the event.
    template <class Type>
    [[nodiscard]] std::optional<Type> get(std::string_view field) const {
        return convert<Type>(value(field));
    }

  private:
    friend class collector;

    template <std::integral Type, class Number>
    static std::optional<Type> narrow(Number number) noexcept {
        if constexpr (std::is_same_v<Type, bool> || std::is_same_v<Type, char>) {
            return std::nullopt;
        } else {
            return std::in_range<Type>(number) ? std::optional(static_cast<Type>(number))
                                               : std::nullopt;
        }
    }

    /// Of an array or sequence with the same type of elements, or of bytes.
    template <class Vector>
    static std::optional<Vector> elements_of(const eventlog_value& found) {
        using element = typename Vector::value_type;
        const bool is_array = found.type == EVENTLOG_VALUE_ARRAY &&
                              found.element == std::uint32_t{detail::dynamic_type<element>()};
        const bool is_bytes = found.type == EVENTLOG_VALUE_BYTES && detail::is_byte<element>;
        if (!is_array && !is_bytes) {
            return std::nullopt;
        }
        Vector elements(found.count);
        if (found.count != 0) {
            std::memcpy(elements.data(), found.as.data, found.count * sizeof(element));
        }
        return elements;
    }

    template <class Type>
    static std::optional<Type> convert(const eventlog_value& found) {
        if constexpr (std::is_enum_v<Type>) {
            const auto number = convert<std::underlying_type_t<Type>>(found);
            return number ? std::optional(static_cast<Type>(*number)) : std::nullopt;
        } else if constexpr (std::is_same_v<Type, std::string_view> ||
                             std::is_same_v<Type, std::string>) {
            return found.type == EVENTLOG_VALUE_TEXT
                       ? std::optional<Type>(std::in_place, static_cast<const char*>(found.as.data),
                                             found.count)
                       : std::nullopt;
        } else if constexpr (detail::is_vector_of_elements<Type>) {
            return elements_of<Type>(found);
        } else if constexpr (std::is_floating_point_v<Type>) {
            return found.type == EVENTLOG_VALUE_REAL
                       ? std::optional(static_cast<Type>(found.as.real))
                       : std::nullopt;
        } else if constexpr (std::is_same_v<Type, bool>) {
            return found.type == EVENTLOG_VALUE_BOOLEAN ? std::optional(found.as.boolean)
                                                        : std::nullopt;
        } else {
            static_assert(std::is_integral_v<Type>,
                          "eventlog: a field is read as a number, bool, enumeration, text or "
                          "std::vector of elements. Use value() for others.");
            if constexpr (std::is_same_v<Type, char>) {
                return found.type == EVENTLOG_VALUE_SIGNED
                           ? std::optional(static_cast<char>(found.as.signed_number))
                           : std::nullopt;
            }
            return found.type == EVENTLOG_VALUE_SIGNED     ? narrow<Type>(found.as.signed_number)
                   : found.type == EVENTLOG_VALUE_UNSIGNED ? narrow<Type>(found.as.unsigned_number)
                                                           : std::nullopt;
        }
    }

    eventlog_collected head_{};
    std::vector<std::byte> payload_;
    std::shared_ptr<const std::vector<std::byte>> schema_;  // head_.schema refers to it
};

/// Collects the events of this process that match patterns, PROVIDER[:EVENT][@LEVEL][/KEYWORD,...]:
///
///     eventlog::collector events({"shop:order_*", "payment@warn"});
///     run();
///     while (const auto event = events.try_get()) {
///         std::cout << event->get<std::uint64_t>("order").value_or(0) << '\n';
///     }
///
/// One thread at a time reads. All other functions: any thread; none from a signal handler.
class collector {
  public:
    using options = eventlog_collector_options;

    explicit collector(std::initializer_list<std::string_view> patterns,
                       std::uint64_t buffer_size = 0, std::uint32_t buffers_per_cpu = 0)
        : collector(std::span<const std::string_view>(patterns.begin(), patterns.size()),
                    buffer_size, buffers_per_cpu) {}
    /// `buffer_size` and `buffers_per_cpu`: see eventlog_collector_options; 0 is the default.
    explicit collector(std::span<const std::string_view> patterns, std::uint64_t buffer_size = 0,
                       std::uint32_t buffers_per_cpu = 0) {
        const options chosen{sizeof chosen, buffers_per_cpu, buffer_size};
        with_pointers(patterns, [&](const char* const* texts, std::size_t count) {
            error_ = eventlog_collector_create(texts, count, &chosen, &handle_, text_.data(),
                                               text_.size());
        });
    }
    ~collector() { eventlog_collector_destroy(handle_); }
    collector(const collector&) = delete;
    collector& operator=(const collector&) = delete;

    /// The result of the last change: of the constructor or set_patterns. After an error in the
    /// constructor the collector is always empty.
    [[nodiscard]] eventlog_error error() const noexcept { return error_; }
    /// The error as a sentence; empty if there is none.
    [[nodiscard]] std::string_view error_text() const noexcept { return text_.data(); }

    /// Replaces the patterns. False after an error; then nothing has changed.
    bool set_patterns(std::span<const std::string_view> patterns) {
        with_pointers(patterns, [&](const char* const* texts, std::size_t count) {
            error_ =
                eventlog_collector_set_patterns(handle_, texts, count, text_.data(), text_.size());
        });
        return error_ == EVENTLOG_ERROR_NONE;
    }
    bool set_patterns(std::initializer_list<std::string_view> patterns) {
        return set_patterns(std::span<const std::string_view>(patterns.begin(), patterns.size()));
    }

    /// Which events of a provider are recorded, in the order of its schema; empty if this process
    /// has no such provider.
    [[nodiscard]] std::vector<bool> mask(std::string_view provider) const {
        std::array<std::uint64_t, events_max / 64> words{};
        const std::size_t count = eventlog_collector_get_mask(
            handle_, std::string(provider).c_str(), words.data(), words.size());
        std::vector<bool> events(count);
        for (std::size_t i = 0; i < count; ++i) {
            events[i] = (words[i / 64] >> i % 64 & 1U) != 0;
        }
        return events;
    }
    /// Sets which events are recorded; those behind the last element are not. False if this process
    /// has no such provider, or no memory.
    bool set_mask(std::string_view provider, const std::vector<bool>& events) {
        std::array<std::uint64_t, events_max / 64> words{};
        for (std::size_t i = 0; i < events.size() && i < events_max; ++i) {
            words[i / 64] |= std::uint64_t{events[i]} << i % 64;
        }
        return eventlog_collector_set_mask(handle_, std::string(provider).c_str(), words.data(),
                                           words.size()) != 0;
    }

    /// The next event, if there is one.
    [[nodiscard]] std::optional<collected_event> try_get() { return read_until(no_wait); }
    /// Waits for the next event. Nothing only if the collector could not be created.
    [[nodiscard]] std::optional<collected_event> get() { return read_until(forever); }
    /// Waits for the next event until the deadline.
    [[nodiscard]] std::optional<collected_event> get_until(
        std::chrono::steady_clock::time_point deadline) {
        return read_until(
            std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch())
                .count());
    }
    [[nodiscard]] std::optional<collected_event> get_for(std::chrono::nanoseconds at_most) {
        const auto now = std::chrono::steady_clock::now();
        return at_most < std::chrono::steady_clock::time_point::max() - now
                   ? get_until(
                         now +
                         std::chrono::duration_cast<std::chrono::steady_clock::duration>(at_most))
                   : get();
    }

    /// Exact in the thread that reads, while no thread emits.
    [[nodiscard]] eventlog_collector_counts counts() const noexcept {
        eventlog_collector_counts sums{};
        eventlog_collector_get_counts(handle_, &sums, sizeof sums);
        return sums;
    }

    /// While it lives, the collector does not record events of the calling thread. The same thread
    /// destroys it, before the collector.
    class [[nodiscard]] thread_exclusion {
      public:
        explicit thread_exclusion(collector& from) noexcept : handle_(from.handle_) {
            eventlog_collector_exclude_thread(handle_, true);
        }
        ~thread_exclusion() { eventlog_collector_exclude_thread(handle_, false); }
        thread_exclusion(const thread_exclusion&) = delete;
        thread_exclusion& operator=(const thread_exclusion&) = delete;

      private:
        eventlog_collector* handle_;
    };

  private:
    static constexpr std::size_t events_max = 1024;
    static constexpr std::int64_t no_wait = INT64_MIN;
    static constexpr std::int64_t forever = INT64_MAX;

    template <class Use>
    static void with_pointers(std::span<const std::string_view> patterns, const Use& use) {
        std::vector<std::string> texts(patterns.begin(), patterns.end());
        std::vector<const char*> pointers;
        pointers.reserve(texts.size());
        for (const std::string& text : texts) {
            pointers.push_back(text.c_str());
        }
        use(pointers.data(), pointers.size());
    }

    std::optional<collected_event> read_until(std::int64_t deadline) {
        std::optional<collected_event> event(std::in_place);
        event->head_.size = sizeof event->head_;
        auto result = EVENTLOG_COLLECTOR_TOO_SMALL;
        while (result == EVENTLOG_COLLECTOR_TOO_SMALL) {
            event->payload_.resize(event->head_.payload_size);
            result = eventlog_collector_get_until(handle_, &event->head_, event->payload_.data(),
                                                  event->payload_.size(), deadline);
        }
        if (result != EVENTLOG_COLLECTOR_EVENT) {
            event.reset();
        } else {
            share_schema(*event);
        }
        return event;
    }

    /// Gives the event the copy of its provider's schema. A schema stays where it is until the
    /// collector is destroyed.
    void share_schema(collected_event& event) {
        std::shared_ptr<const std::vector<std::byte>>& copy = schemas_[event.head_.schema];
        if (copy == nullptr) {
            const auto* const bytes = static_cast<const std::byte*>(event.head_.schema);
            copy = std::make_shared<const std::vector<std::byte>>(bytes,
                                                                  bytes + event.head_.schema_size);
        }
        event.schema_ = copy;
        event.head_.schema = copy->data();
    }

    eventlog_collector* handle_ = nullptr;
    std::map<const void*, std::shared_ptr<const std::vector<std::byte>>> schemas_;
    eventlog_error error_ = EVENTLOG_ERROR_NONE;
    std::array<char, EVENTLOG_TEXT_SIZE> text_{};
};

}  // namespace v0
}  // namespace eventlog
