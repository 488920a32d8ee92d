// SPDX-License-Identifier: MIT
#include "pushdown/pushdown.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "aggregate/key_cardinality.hpp"
#include "base/user_error.hpp"
#include "predicate/literal_values.hpp"
#include "tracing/kernel_trace_condition.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;
using eventlog::field_type;

// Number of 32-bit values whose sum fits 64 bits in any case.
constexpr std::uint64_t summed_max = std::uint64_t{1} << 31U;

/// Names with a special meaning in the kernel's histograms.
bool is_taken(const std::string& name) {
    return name == "hitcount" || name == "stacktrace" || name.starts_with("common_");
}

/// A user_error states the reason for which elog aggregates the records itself.
class pushdown_planner {
  public:
    pushdown_planner(const aggregation& asked, const kernel_trace_event& event)
        : asked_(asked),
          known_(event.schema->events[event.position]),
          fields_(kernel_fields_of(event, known_)),
          provider_(naming_provider(event)) {}

    pushdown_event make(const std::string& condition, std::size_t keys_max) {
        for (const aggregate_key& key : asked_.keys) {
            add_group(place_of(key.of, key.text), key.text);
        }
        made_.group_keys = made_.asked.keys.size();
        for (const aggregate_call& call : asked_.calls) {
            made_.summands.emplace_back();
            add_call(call);
        }
        if (made_.asked.keys.empty()) {
            add_key({"common_type", 0}, {field_source::fixed, 0, 0}, 1);
        }
        choose_size(keys_max);
        set_conditions(condition);
        return std::move(made_);
    }

  private:
    [[nodiscard]] value_location place_of(const field_reference& name,
                                          const std::string& text) const {
        const std::optional<value_location> location =
            find_location(name, provider_, known_, asked_.source);
        if (!location) {
            throw user_error("it has no {}", text);
        }
        return *location;
    }

    /// The kernel's name of a field by which it can count, or that it can sum.
    [[nodiscard]] std::string field_at(const value_location& location,
                                       const std::string& text) const {
        const auto found =
            std::find_if(fields_.begin(), fields_.end(), [&](const kernel_field& field) {
                return field.offset == location.stored.offset &&
                       field.type == location.stored.type && field.count == 1;
            });
        const bool is_whole = location.stored.is == value_class::integer ||
                              location.stored.is == value_class::boolean;
        if (location.stored.source != field_source::payload || !is_whole ||
            found == fields_.end() || is_taken(found->name)) {
            throw user_error("the kernel's histograms take integers, and {} is none that "
                             "they know",
                             text);
        }
        if (location.stored.presence != schema_format::no_index) {
            throw user_error("{} is optional, and the kernel does not know whether it has "
                             "a value",
                             text);
        }
        return found->name;
    }

    void add_key(tracefs::hist_key key, const pushdown_key& location, std::uint64_t values) {
        std::vector<tracefs::hist_key>& keys = made_.asked.keys;
        const auto same = std::find_if(keys.begin(), keys.end(),
                                       [&](const auto& each) { return each.field == key.field; });
        if (same != keys.end()) {
            if (same->bucket == key.bucket) {
                return;
            }
            throw user_error("{} is asked for in two ways", key.field);
        }
        if (keys.size() == tracefs::hist_keys_max) {
            throw user_error("the kernel's histograms have up to {} keys, those of "
                             "distributions included",
                             tracefs::hist_keys_max);
        }
        keys.push_back(std::move(key));
        made_.keys.push_back(location);
        combinations_ = saturating_product(combinations_, values);
    }

    void add_group(const value_location& location, const std::string& text) {
        switch (location.stored.source) {
            case field_source::thread:
                add_key({"common_pid", 0}, {field_source::thread, 0, 0}, threads_max);
                return;
            case field_source::cpu:
                add_key({"common_cpu", 0}, {field_source::cpu, 0, 0}, cpus_max);
                return;
            case field_source::clock:
                throw user_error("the kernel's histograms know no time");
            case field_source::sequence:
                break;
            case field_source::fixed:
                if (location.name == "pid" || location.name == "uid" || location.name == "comm") {
                    throw user_error("whose process an event is, as {} asks, the kernel's "
                                     "histograms do not know; they know tid",
                                     text);
                }
                return;
            case field_source::payload:
                break;
        }
        add_field(location, text, 0, cardinality_of_bytes(location.stored.size));
    }

    void add_field(const value_location& location, const std::string& text, std::uint64_t bucket,
                   std::uint64_t values) {
        add_key({field_at(location, text), bucket},
                {field_source::payload, location.stored.offset, location.stored.size}, values);
    }

    void add_call(const aggregate_call& call) {
        if (!call.of) {
            return;
        }
        const std::optional<value_location> location =
            find_location(*call.of, provider_, known_, asked_.source);
        if (!location) {
            return;  // the event does not count for it
        }
        switch (call.what) {
            case aggregate_function::count:
                check_counted(*location, call.text);
                return;
            case aggregate_function::sum:
            case aggregate_function::avg:
                add_sum(*location, call.text);
                return;
            case aggregate_function::hist:
            case aggregate_function::quantize:
                add_distribution(call, *location);
                return;
            default:
                throw user_error("the kernel's histograms only count and add up, and {} "
                                 "is something else",
                                 call.text);
        }
    }

    static void check_counted(const value_location& location, const std::string& text) {
        const bool may_lack = location.stored.type == field_type::text ||
                              location.stored.presence != schema_format::no_index;
        if (location.stored.source == field_source::payload && may_lack) {
            throw user_error("the kernel does not know whether there is a value, as {} "
                             "asks",
                             text);
        }
    }

    void add_sum(const value_location& location, const std::string& text) {
        if (location.stored.is != value_class::integer) {
            throw user_error("the kernel adds up integers, and no other numbers, as in {}", text);
        }
        const std::string field = field_at(location, text);
        std::vector<std::string>& values = made_.asked.values;
        const auto known = std::find(values.begin(), values.end(), field);
        made_.summands.back() = {static_cast<std::size_t>(known - values.begin()),
                                 location.stored.is_signed};
        if (known != values.end()) {
            return;
        }
        if (values.size() == tracefs::hist_values_max) {
            throw user_error("the kernel's histograms add up {} fields at a time",
                             tracefs::hist_values_max);
        }
        values.push_back(field);
        if (location.stored.size == sizeof(std::uint64_t)) {
            limit(field, location.stored.is_signed);
        }
    }

    /// The kernel sums values that fit 32 bits, elog the others.
    void limit(const std::string& field, bool is_signed) {
        const auto [low, high] = is_signed
                                     ? std::pair<std::int64_t, std::int64_t>(INT32_MIN, INT32_MAX)
                                     : std::pair<std::int64_t, std::int64_t>(0, UINT32_MAX);
        const std::string above = fmt::format("{} > {}", field, high);
        within_ += fmt::format("{}{} <= {}", within_.empty() ? "" : " && ", field, high);
        beyond_ += (beyond_.empty() ? "" : " || ") + above;
        if (is_signed) {
            within_ += fmt::format(" && {} >= {}", field, low);
            beyond_ += fmt::format(" || {} < {}", field, low);
        }
    }

    /// The set of buckets must not depend on the order of values: see histogram.hpp.
    void add_distribution(const aggregate_call& call, const value_location& location) {
        if (location.stored.is != value_class::integer) {
            throw user_error("the kernel's histograms take integers, and no other "
                             "numbers, as in {}",
                             call.text);
        }
        has_distribution_ = true;
        const std::uint64_t values = cardinality_of_bytes(location.stored.size);
        const std::uint64_t step = call.step ? bucket_width_of(asked_.source, call, location) : 1;
        const bool is_bounded = !call.step || values / step + 2 <= histogram::fixed_max;
        if (!is_bounded) {
            throw user_error("{} may have more than {} buckets, and which of them count "
                             "depends on what comes first",
                             call.text, histogram::fixed_max);
        }
        if (values <= tracefs::hist_size_max) {
            add_field(location, call.text, 0, values);
        } else if (call.what == aggregate_function::hist && call.step &&
                   !location.stored.is_signed) {
            add_field(location, call.text, step, values / step + 1);
        } else {
            throw user_error(
                "{} takes each single value of {} bits, which are more than the kernel can keep",
                call.text, location.stored.size * 8);
        }
    }

    /// The number of keys is bounded by what elog would keep. Of the buckets of a distribution none
    /// may be missing.
    void choose_size(std::size_t keys_max) {
        const std::uint64_t wanted =
            has_distribution_ ? combinations_ : std::min<std::uint64_t>(combinations_, keys_max);
        if (wanted > tracefs::hist_size_max) {
            throw user_error("there may be more {} than {}, all that the kernel can keep",
                             has_distribution_ ? "values with their keys" : "keys",
                             tracefs::hist_size_max);
        }
        made_.asked.size = std::max(std::bit_ceil(wanted), tracefs::hist_size_min);
    }

    void set_conditions(const std::string& condition) {
        const auto both = [&](const std::string& other) {
            return condition.empty() || other.empty() ? condition + other
                                                      : fmt::format("{} && ({})", condition, other);
        };
        made_.asked.condition = both(within_);
        if (!beyond_.empty()) {
            made_.rest = both(beyond_);
        }
    }

    const aggregation& asked_;
    const event_schema& known_;
    std::vector<kernel_field> fields_;
    provider_instance provider_;
    pushdown_event made_;
    std::uint64_t combinations_ = 1;
    bool has_distribution_ = false;
    std::string within_;
    std::string beyond_;
};

void put(std::vector<std::uint8_t>& payload, const pushdown_key& key, std::uint64_t bits) {
    // Little-endian, as on all supported machines. A bool of a program may be any byte.
    std::array<std::uint8_t, sizeof bits> bytes{};
    std::memcpy(bytes.data(), &bits, sizeof bits);
    std::copy_n(bytes.begin(), key.size, payload.begin() + key.offset);
}

wide_integer sum_of(const tracefs::hist_entry& entry, const pushdown_event::summand& summand) {
    if (!summand.sum) {
        return 0;
    }
    const std::uint64_t bits = entry.sums[*summand.sum];
    return summand.is_signed ? wide_integer{static_cast<std::int64_t>(bits)} : wide_integer{bits};
}

void check_sums(const pushdown_counts& counts) {
    const auto& [system, name] = counts.of.event->kernel_name;
    for (const tracefs::hist_entry& entry : counts.table.entries) {
        if (!counts.of.pushed->asked.values.empty() && entry.hits > summed_max) {
            throw user_error(
                "{}:{} came {} times, more than the kernel can add up for one key: listen "
                "for a shorter time, or have elog add up itself, with --push-down never.",
                system, name, entry.hits);
        }
    }
}

struct ranked_entry {
    const pushdown_counts* counts = nullptr;
    const tracefs::hist_entry* entry = nullptr;
    std::uint64_t group_hits = 0;  // of all entries of the group
};

/// The kernel prints the rarest first; the aggregator must see the most frequent first, because it
/// drops keys beyond its limit.
std::vector<ranked_entry> largest_first(const std::vector<const pushdown_counts*>& all) {
    std::vector<ranked_entry> ranked;
    for (const pushdown_counts* counts : all) {
        const auto group_of = [&](const tracefs::hist_entry& entry) {
            const auto size = static_cast<std::ptrdiff_t>(counts->of.pushed->group_keys);
            return std::vector<std::uint64_t>(entry.keys.begin(), entry.keys.begin() + size);
        };
        std::map<std::vector<std::uint64_t>, std::uint64_t> hits;
        for (const tracefs::hist_entry& entry : counts->table.entries) {
            hits[group_of(entry)] += entry.hits;
        }
        for (const tracefs::hist_entry& entry : counts->table.entries) {
            ranked.push_back({counts, &entry, hits[group_of(entry)]});
        }
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& one, const auto& other) {
        return one.group_hits > other.group_hits;
    });
    return ranked;
}

/// Merges an entry as if the records had been read.
void add_entry(aggregator& computed, const pushdown_counts& counts,
               const tracefs::hist_entry& entry) {
    const kernel_trace_event& event = *counts.of.event;
    const pushdown_event& pushed = *counts.of.pushed;
    record_view like;
    like.provider = counts.provider;
    like.event = event.position;
    std::vector<std::uint8_t> payload(event.schema->events[event.position].fixed_size);
    for (std::size_t i = 0; i < pushed.keys.size(); ++i) {
        switch (pushed.keys[i].source) {
            case field_source::thread:
                like.thread = static_cast<std::uint32_t>(entry.keys[i]);
                break;
            case field_source::cpu:
                like.cpu = static_cast<std::uint16_t>(entry.keys[i]);
                break;
            case field_source::payload:
                put(payload, pushed.keys[i], entry.keys[i]);
                break;
            default:
                break;
        }
    }
    like.payload = payload;
    partial_sums counted;
    counted.records = entry.hits;
    for (const pushdown_event::summand& summand : pushed.summands) {
        counted.sums.push_back(sum_of(entry, summand));
    }
    computed.merge_partial(like, clock_converter(), counted);
}

}  // namespace

pushdown_decision refused(std::string reason) {
    pushdown_decision decided;
    decided.reason = std::move(reason);
    return decided;
}

pushdown_decision decide_pushdown(const aggregation& asked, std::size_t keys_max,
                                  const kernel_trace_event& event,
                                  const kernel_condition& condition) {
    if (!event.is_published && is_program_system(event.name.system)) {
        return refused("the names of its numbers are unknown until its program runs");
    }
    if (!condition.is_whole) {
        const std::string part =
            condition.column == 0 ? "" : fmt::format(", column {}", condition.column);
        return refused(
            condition.never_matches
                ? "--where is false for all of them"
                : fmt::format("the kernel cannot decide --where{}: {}", part, condition.reason));
    }
    try {
        pushdown_decision decided;
        decided.pushed = std::make_shared<const pushdown_event>(
            pushdown_planner(asked, event).make(condition.text, keys_max));
        return decided;
    } catch (const user_error& mistake) {
        return refused(mistake.what());
    }
}

std::string capacity_reason(const std::vector<counted_event>& before,
                            const pushdown_event& wanted) {
    std::uint64_t taken = 0;
    for (const counted_event& each : before) {
        taken += each.pushed->asked.size;
    }
    if (taken + wanted.asked.size <= histogram_keys_max) {
        return {};
    }
    return fmt::format("the histograms of events before it take all the memory that they may, for "
                       "{} keys",
                       histogram_keys_max);
}

void add_counts(aggregator& computed, const std::vector<pushdown_counts>& all) {
    std::optional<user_error> mistake;
    std::vector<const pushdown_counts*> sound;
    for (const pushdown_counts& each : all) {
        try {
            check_sums(each);
            sound.push_back(&each);
        } catch (const user_error& error) {
            mistake = mistake ? mistake : std::optional(error);
        }
    }
    for (const ranked_entry& each : largest_first(sound)) {
        add_entry(computed, *each.counts, *each.entry);
    }
    for (const pushdown_counts* each : sound) {
        computed.note_overflowed(each->table.dropped);
    }
    if (mistake) {
        throw user_error(*mistake);
    }
}

}  // namespace elog
