// SPDX-License-Identifier: MIT
#include "pushdown/bpf_plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "aggregate/histogram.hpp"
#include "aggregate/key_cardinality.hpp"
#include "base/user_error.hpp"
#include "bpf/bpf_counter.hpp"
#include "predicate/literal_values.hpp"
#include "pushdown/bpf_field_access.hpp"
#include "pushdown/bpf_predicate.hpp"
#include "tracing/kernel_trace_condition.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;
using eventlog::field_type;

constexpr std::uint32_t plan_word_size = sizeof(std::uint64_t);
// Half of the program's stack; the other half is for temporaries.
constexpr std::uint32_t key_size_max = 256;
// Overhead of an entry beside key and values.
constexpr std::uint64_t entry_size = 96;
/// Number of values of an integer.
std::uint64_t cardinality_of(const stored_location& location) noexcept {
    switch (location.source) {
        case field_source::thread:
            return threads_max;
        case field_source::cpu:
            return cpus_max;
        default:
            return cardinality_of_bytes(location.size);
    }
}

std::uint32_t padded(std::uint32_t size) noexcept {
    return (size + plan_word_size - 1) / plan_word_size * plan_word_size;
}

/// Smallest and largest value of a field.
std::pair<wide_integer, wide_integer> range_of_place(const stored_location& location) noexcept {
    const std::uint32_t bits = location.source == field_source::payload ? location.size * 8 : 64;
    const wide_integer values = wide_integer{1} << bits;
    return location.is_signed ? std::pair(-values / 2, values / 2 - 1)
                              : std::pair(wide_integer{0}, values - 1);
}

/// A user_error states the reason for which elog aggregates the records itself.
class bpf_planner {
  public:
    bpf_planner(const aggregation& asked, const kernel_trace_event& event)
        : asked_(asked),
          known_(event.schema->events[event.position]),
          provider_(naming_provider(event)) {
        for (const tracefs::format_field& field : event.format.fields) {
            if (field.where == tracefs::location::data_loc) {
                made_.text_base = field.where;
            }
        }
    }

    bpf_plan make(const predicate* where, std::int64_t reference_time, std::size_t keys_max,
                  std::uint32_t cpus) {
        if (where != nullptr) {
            std::vector<bool> ignored(where->nodes().size());
            made_.wanted = fold({*where, reference_time, ignored, true}, provider_, known_);
            check_bpf_predicate(*made_.wanted, known_.fixed_size);
        }
        for (const aggregate_key& key : asked_.keys) {
            add_key(key);
        }
        for (const aggregate_call& call : asked_.calls) {
            add_call(call);
        }
        if (std::none_of(made_.calls.begin(), made_.calls.end(),
                         [](const bpf_call& call) { return call.taken; })) {
            throw user_error("it has nothing that the calls ask for");
        }
        choose_size(keys_max, cpus);
        return std::move(made_);
    }

  private:
    [[nodiscard]] std::optional<value_location> find(const field_reference& name) const {
        return find_location(name, provider_, known_, asked_.source);
    }

    void check_place(const value_location& location, const std::string& text) const {
        if (location.stored.source == field_source::clock) {
            throw user_error("BPF programs do not count by time, as {} asks", text);
        }
        if (location.stored.source == field_source::sequence) {
            throw user_error("BPF programs do not read sequences, as {} asks", text);
        }
        const bool is_of_process =
            location.name == "pid" || location.name == "uid" || location.name == "comm";
        if (location.stored.source == field_source::fixed && is_of_process) {
            throw user_error("whose process an event is, as {} asks, is found out here", text);
        }
        if (!is_in_fixed_payload(location.stored, known_.fixed_size)) {
            throw user_error("{} is not where records have their fields", text);
        }
    }

    void add_key(const aggregate_key& key) {
        const std::optional<value_location> location = find(key.of);
        if (!location) {
            throw user_error("it has no {}", key.text);
        }
        check_place(*location, key.text);
        if (location->stored.source == field_source::fixed) {
            return;
        }
        bpf_key added;
        added.location = location->stored;
        added.has_state = location->stored.presence != schema_format::no_index;
        added.begin = key_size_;
        combinations_ = saturating_product(combinations_, prepare(added, key.text));
        key_size_ += added.size;
        if (key_size_ > key_size_max) {
            throw user_error("keys of more than {} bytes are too long for a BPF program",
                             key_size_max);
        }
        made_.by += (made_.by.empty() ? "" : ", ") + key.text;
        made_.keys.push_back(added);
    }

    /// Lays out the key and returns its number of possible values.
    static std::uint64_t prepare(bpf_key& added, const std::string& text) {
        const std::uint32_t state = added.has_state ? plan_word_size : 0;
        const std::uint64_t absent = added.has_state ? 1 : 0;
        added.size = state + plan_word_size;
        switch (added.location.is) {
            case value_class::boolean:
                return 2 + absent;
            case value_class::character:
            case value_class::integer:
                return cardinality_of(added.location) == unbounded_cardinality
                           ? unbounded_cardinality
                           : cardinality_of(added.location) + absent;
            case value_class::address:
                added.size = state + padded(added.location.size);
                return unbounded_cardinality;
            case value_class::text:
                if (added.location.type == field_type::text) {
                    throw user_error("BPF programs count by no texts of any length, as {} is",
                                     text);
                }
                added.size = state + padded(added.location.size + 1);
                return unbounded_cardinality;
            default:
                throw user_error("BPF programs count by integers, addresses and texts, and {} is "
                                 "something else",
                                 text);
        }
    }

    void add_call(const aggregate_call& call) {
        bpf_call& added = made_.calls.emplace_back();
        added.what = call.what;
        added.taken = true;
        added.begin = made_.words;
        if (!call.of) {
            return;
        }
        const std::optional<value_location> location = find(*call.of);
        added.taken = location.has_value();
        if (!location) {
            return;
        }
        check_place(*location, call.text);
        added.location = location->stored;
        if (call.what == aggregate_function::count) {
            added.has_own_count = location->stored.source == field_source::payload &&
                                  (location->stored.type == field_type::text ||
                                   location->stored.presence != schema_format::no_index);
        } else {
            check_number(*location, call.text);
            added.has_own_count = location->stored.presence != schema_format::no_index;
        }
        made_.words = added.numbers() + words_of(call, *location, added);
        if (made_.words > tracefs::bpf_words_max) {
            throw user_error("{} takes more than the {} numbers that a key can have", call.text,
                             tracefs::bpf_words_max);
        }
    }

    static void check_number(const value_location& location, const std::string& text) {
        if (location.stored.is != value_class::integer ||
            location.stored.source == field_source::fixed) {
            throw user_error("BPF programs compute with integers, and {} asks for something else",
                             text);
        }
    }

    /// Number of words of the call behind its count.
    std::uint32_t words_of(const aggregate_call& call, const value_location& location,
                           bpf_call& added) const {
        switch (call.what) {
            case aggregate_function::count:
                return 0;
            case aggregate_function::sum:
            case aggregate_function::avg:
                return 2;
            case aggregate_function::min:
            case aggregate_function::max:
                return 1;
            case aggregate_function::stddev:
                return 5;
            case aggregate_function::quantize: {
                const std::uint32_t bits = location.stored.size * 8;
                added.first = location.stored.is_signed ? -std::int64_t{bits} : 0;
                added.buckets = location.stored.is_signed ? 2 * bits + 1 : bits + 1;
                return added.buckets;
            }
            case aggregate_function::hist:
                choose_buckets(call, location, added);
                return added.buckets;
        }
        return 0;
    }

    /// The set of buckets must not depend on the order of values: see histogram.hpp. Without a
    /// step, each number has its own bucket.
    void choose_buckets(const aggregate_call& call, const value_location& location,
                        bpf_call& added) const {
        const wide_integer step = call.step ? bucket_width_of(asked_.source, call, location) : 1;
        const auto [low, high] = range_of_place(location.stored);
        const wide_integer first = floor_div(low, step);
        const wide_integer count = floor_div(high, step) - first + 1;
        if (count > static_cast<wide_integer>(histogram::fixed_max) ||
            high - first * step > static_cast<wide_integer>(unbounded_cardinality)) {
            throw user_error("{} may have more than {} buckets", call.text, histogram::fixed_max);
        }
        added.first = static_cast<std::int64_t>(first);
        added.buckets = static_cast<std::uint32_t>(count);
        added.step = static_cast<std::uint64_t>(step);
    }

    void choose_size(std::size_t keys_max, std::uint32_t cpus) {
        made_.key_size = std::max(key_size_, plan_word_size);
        made_.keys_max =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(combinations_, keys_max));
        const std::uint64_t each =
            entry_size + made_.key_size + std::uint64_t{made_.words} * plan_word_size * cpus;
        made_.bytes = each * made_.keys_max;
        if (made_.bytes > bpf_bytes_max) {
            throw user_error("a BPF program's table of {} keys would take {} MiB, and may take {}: "
                             "--keys {} would do",
                             made_.keys_max, made_.bytes >> 20U, bpf_bytes_max >> 20U,
                             bpf_bytes_max / each);
        }
    }

    const aggregation& asked_;
    const event_schema& known_;
    provider_instance provider_;
    bpf_plan made_;
    std::uint32_t key_size_ = 0;
    std::uint64_t combinations_ = 1;
};

}  // namespace

std::uint64_t bucket_width_of(const std::string& source, const aggregate_call& call,
                              const value_location& location) {
    const ratio step = literal_in_field_unit(source, location, *call.step, call.text);
    const wide_integer whole = step.numerator / step.denominator;
    if (whole * step.denominator != step.numerator || whole < 1 || whole > INT64_MAX) {
        throw user_error("{} has no steps that are integers", call.text);
    }
    return static_cast<std::uint64_t>(whole);
}

bpf_plan_result plan_bpf(const aggregation& asked, std::size_t keys_max,
                         const kernel_trace_event& event, const predicate* where,
                         std::int64_t reference_time, std::uint32_t cpus) {
    // Events of other systems cannot run such programs or are not known well enough; a reason would
    // not help the user.
    if (event.kernel_name.system != "eventlog" || !event.is_published) {
        return {};
    }
    try {
        return {std::make_shared<const bpf_plan>(
                    bpf_planner(asked, event).make(where, reference_time, keys_max, cpus)),
                {}};
    } catch (const user_error& mistake) {
        return {{}, mistake.what()};
    }
}

}  // namespace elog
