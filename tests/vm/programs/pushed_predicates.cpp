// SPDX-License-Identifier: MIT
//
// Compares random predicates on events of this program, evaluated by the kernel as far as possible
// (kernel_condition.hpp) and by elog: the kernel must keep each event that elog keeps, and no other
// if it evaluates the whole predicate. Two tracing instances have the same events; one has no
// filter. Arguments: the number of predicates, and the seed.
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "format/page_events.hpp"
#include "kernel/instance.hpp"
#include "predicate/compiled_predicate.hpp"
#include "random_source.hpp"
#include "record/clock_converter.hpp"
#include "steps.hpp"
#include "tracing/kernel_trace_condition.hpp"
#include "tracing/kernel_trace_registry.hpp"
#include "trials.hpp"

namespace {

struct values {
    std::uint8_t tiny;
    std::int8_t small;
    std::uint16_t port;
    std::int16_t debt;
    std::uint32_t amount;
    std::int32_t owed;
    std::uint64_t large;
    std::int64_t far;
    bool lit;
    double share;
    std::array<std::uint16_t, 3> row;
    std::string_view word;
    std::string_view name;
};
struct item {
    std::uint32_t serial;
    values its;
};
// An event with the same fields and without a filter in the kernel.
struct control {
    std::uint32_t serial;
    values its;
};
using pushed = eventlog::provider<"pushed", item, control>;

constexpr int events_each = 24;

const std::vector<std::string> words{"",    "a",          "ab",   "abc", "a b",
                                     "ABC", "ab\xc3\xa9", "it's", "&&",  "5"};
const std::vector<std::string_view> unsigned_fields{"its.tiny", "its.port", "its.amount",
                                                    "its.large"};
const std::vector<std::string_view> signed_fields{"its.small", "its.debt", "its.owed", "its.far"};
const std::vector<std::string_view> comparisons{"==", "!=", "<", "<=", ">", ">="};
// Limits of all types, and their neighbors.
const std::vector<std::uint64_t> sizes{
    0,          1,          2,          5,          127,       128,
    255,        256,        32767,      32768,      65535,     65536,
    2147483647, 2147483648, 4294967295, 4294967296, INT64_MAX, INT64_MAX + 1ULL,
    UINT64_MAX};

class generator : public eventlog::test::random_source {
  public:
    using random_source::random_source;

    std::uint64_t size() { return pick(sizes) + below(3) - 1; }

    std::string predicate(int depth) {
        const std::size_t kind = below(depth > 0 ? 6 : 3);
        if (kind < 3) {
            return relation();
        }
        if (kind == 3) {
            return "!(" + predicate(depth - 1) + ")";
        }
        std::string joined = "(" + predicate(depth - 1);
        for (std::size_t i = 0; i <= below(3); ++i) {
            joined += (kind == 4 ? " && " : " || ") + predicate(depth - 1);
        }
        return joined + ")";
    }

    values event() {
        return {static_cast<std::uint8_t>(size()),
                static_cast<std::int8_t>(size()),
                static_cast<std::uint16_t>(size()),
                static_cast<std::int16_t>(size()),
                static_cast<std::uint32_t>(size()),
                static_cast<std::int32_t>(size()),
                size(),
                static_cast<std::int64_t>(size()),
                below(2) != 0,
                static_cast<double>(below(4)) / 2,
                {static_cast<std::uint16_t>(below(3)), 1, 2},
                pick(words),
                pick(words)};
    }

  private:
    std::string number_for(bool is_signed) {
        if (!is_signed) {
            return fmt::format("{}", size());
        }
        const std::uint64_t magnitude = size();
        const bool is_one = magnitude <= static_cast<std::uint64_t>(INT64_MAX);
        return below(2) != 0 && is_one ? fmt::format("-{}", magnitude)
                                       : fmt::format("{}", is_one ? magnitude : 7);
    }

    std::string relation() {
        switch (below(12)) {
            case 0:
                return below(2) != 0 ? "its.lit" : "its.lit == false";
            case 1:
                return fmt::format("its.word {} \"{}\"", pick(comparisons), text());
            case 2:
                return fmt::format("its.name == \"{}\"", text());
            case 3:
                return fmt::format("its.word {} \"{}*\"", below(2) != 0 ? "~" : "!~", text());
            case 4:
                return fmt::format("{} & {}", pick(unsigned_fields), 1 + below(255));
            case 5:
                return fmt::format("({} & 6) {} 6", pick(unsigned_fields), pick(comparisons));
            case 6:
                return fmt::format("{} {} {}", pick(unsigned_fields), pick(comparisons),
                                   pick(unsigned_fields));
            case 7:
                return other_relation();
            case 8:
            case 9:
                return fmt::format("{} {} {}", pick(signed_fields), pick(comparisons),
                                   number_for(true));
            default:
                return fmt::format("{} {} {}", pick(unsigned_fields), pick(comparisons),
                                   number_for(false));
        }
    }

    /// Conditions that the kernel cannot evaluate, and conditions on the emitting thread.
    std::string other_relation() {
        switch (below(6)) {
            case 0:
                return fmt::format("its.share {} 0.5", pick(comparisons));
            case 1:
                return fmt::format("its.row[0] {} 1", pick(comparisons));
            case 2:
                return fmt::format("pid {} {}", pick(comparisons), ::getpid());
            case 3:
                return fmt::format("tid {} {}", pick(comparisons),
                                   static_cast<std::size_t>(::getpid()) + below(2));
            case 4:
                return below(2) != 0 ? "comm ~ \"pushed*\"" : "comm != \"pushed\"";
            default:
                return fmt::format("level {} info", pick(comparisons));
        }
    }

    const std::string& text() { return pick(words); }
};

using payloads = std::map<std::uint32_t, std::vector<std::uint8_t>>;  // by serial number

class recorder {
  public:
    recorder(const elog::kernel_trace_event& filtered, const elog::kernel_trace_event& other)
        : filtered_(filtered), other_(other), made_({}) {
        for (const elog::kernel_trace_event* event : {&filtered, &other}) {
            made_.enable(event->kernel_name);
        }
        for (const elog::field_schema& field : other.schema->events[other.position].fields) {
            serial_offset_ = field.name == "serial" ? field.offset : serial_offset_;
        }
    }

    /// False if the kernel rejects it.
    [[nodiscard]] bool set_filter(const std::string& condition) {
        return made_.filter(filtered_.kernel_name, condition.empty() ? "0" : condition);
    }

    /// Reads all events that were kept since the last call.
    void read_new(payloads& kept, payloads& all) {
        for (std::uint32_t cpu = 0; cpu < made_.cpu_count(); ++cpu) {
            while (made_.read_page(cpu, page_)) {
                static_cast<void>(pages_.load(page_));
                while (const auto event = pages_.next()) {
                    std::uint16_t id = 0;
                    std::memcpy(&id, event->record.data(), sizeof id);
                    add_payload(event->record, id == filtered_.format.id ? kept : all);
                }
            }
        }
    }

  private:
    void add_payload(std::span<const std::uint8_t> record, payloads& payloads_read) const {
        std::vector<std::uint8_t> payload;
        std::uint32_t serial = 0;
        if (other_.plan.append(record, 60'000, payload)) {
            std::memcpy(&serial, payload.data() + serial_offset_, sizeof serial);
            payloads_read.emplace(serial, std::move(payload));
        }
    }

    const elog::kernel_trace_event& filtered_;
    const elog::kernel_trace_event& other_;
    std::size_t serial_offset_ = 0;
    eventlog::tracefs::instance made_;
    eventlog::tracefs::page_events pages_;
    std::vector<std::uint8_t> page_;
};

struct totals {
    std::uint64_t asked = 0;  // predicates that the kernel evaluates at least in part
    std::uint64_t whole = 0;  // of these: as a whole
    std::uint64_t events = 0;
    std::uint64_t wanted = 0;
    std::uint64_t kept = 0;
    std::uint64_t wrong = 0;
};

class trial {
  public:
    trial(const elog::kernel_trace_event& event, const elog::kernel_trace_event& other,
          std::uint32_t seed)
        : event_(event), recorder_(event, other), random_(seed) {
        provider_.schema = *event.schema;
        provider_.pid = static_cast<std::uint32_t>(::getpid());
        provider_.process = "pushed_predicat";
    }

    void run() {
        const std::string text = random_.predicate(3);
        const elog::predicate wanted("predicate", text);
        const elog::kernel_condition condition = elog::condition_for(event_, wanted, 0);
        if (!recorder_.set_filter(condition.text)) {
            std::printf("rejected by the kernel: %s\n", condition.text.c_str());
            ++totals_.wrong;
            return;
        }
        totals_.asked += condition.text.empty() ? 0 : 1;
        totals_.whole += !condition.text.empty() && condition.is_whole ? 1 : 0;
        for (int i = 0; i < events_each; ++i) {
            const values emitted = random_.event();
            ++serial_;
            pushed::emit(item{serial_, emitted});
            pushed::emit(control{serial_, emitted});
        }
        compare(text, wanted, condition);
    }

    [[nodiscard]] const totals& result() const noexcept { return totals_; }

  private:
    void compare(const std::string& text, const elog::predicate& wanted,
                 const elog::kernel_condition& condition) {
        std::vector<bool> known(wanted.nodes().size());
        const elog::compiled_predicate test({wanted, 0, known}, provider_,
                                            provider_.schema.events[event_.position]);
        payloads kept;
        payloads all;
        recorder_.read_new(kept, all);
        if (all.size() != events_each) {
            std::printf("%zu events of %d are recorded\n", all.size(), events_each);
            ++totals_.wrong;
        }
        for (const auto& [serial, payload] : all) {
            elog::record_view record;
            record.thread = static_cast<std::uint32_t>(::getpid());
            record.payload = payload;
            const bool is_wanted = test.matches(record, clock_);
            const bool is_kept = kept.contains(serial);
            ++totals_.events;
            totals_.wanted += is_wanted ? 1 : 0;
            totals_.kept += is_kept ? 1 : 0;
            if ((is_wanted && !is_kept) ||
                (is_kept && !is_wanted && condition.is_whole && !condition.text.empty())) {
                std::printf("%s\n  filter of the kernel: %s\n  event %" PRIu32
                            " is %s, and was %s\n",
                            text.c_str(), condition.text.c_str(), serial,
                            is_wanted ? "wanted" : "not wanted", is_kept ? "kept" : "not kept");
                ++totals_.wrong;
            }
        }
    }

    const elog::kernel_trace_event& event_;
    elog::provider_instance provider_;
    recorder recorder_;
    generator random_;
    elog::clock_converter clock_;
    std::uint32_t serial_ = 0;
    totals totals_;
};

int run(std::uint64_t count, std::uint32_t seed) {
    elog::event_patterns patterns;
    patterns.add("pushed");
    elog::kernel_trace_registry events(patterns, [] {
        return std::vector<elog::provider_schema>{elog::provider_schema::parse(pushed::schema())};
    });
    const std::vector<const elog::kernel_trace_event*> found = events.discover();
    if (found.size() != 2 || !found[0]->is_published || !found[1]->is_published) {
        std::printf("the kernel does not have the events\n");
        return 1;
    }
    const std::size_t first = found[0]->name.event == "item" ? 0 : 1;
    trial tried(*found[first], *found[1 - first], seed);
    if (!wait_until([] { return pushed::enabled<item>() && pushed::enabled<control>(); })) {
        std::printf("the events have no listener\n");
        return 1;
    }
    for (std::uint64_t i = 0; i < count && tried.result().wrong < 20; ++i) {
        tried.run();
    }
    const totals& all = tried.result();
    std::printf("predicates %" PRIu64 " asked %" PRIu64 " whole %" PRIu64 " events %" PRIu64
                " wanted %" PRIu64 " kept %" PRIu64 " wrong %" PRIu64 "\n",
                count, all.asked, all.whole, all.events, all.wanted, all.kept, all.wrong);
    return all.wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run_trials(argc, argv, 1000, run);
}
