// SPDX-License-Identifier: MIT
//
// Compares random aggregations of random events of this program, each computed twice at the same
// time: from records in memory, and from counts of the kernel where it supports that
// (pushdown.hpp). The results must be equal; with more keys than are kept, the kept keys may
// differ, but not their number nor the number of events. Arguments: the number of aggregations, and
// the seed.
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <eventlog/eventlog.hpp>

#include "aggregate/aggregate_report.hpp"
#include "aggregate/aggregating_sink.hpp"
#include "base/user_error.hpp"
#include "capture/kernel_trace_recording.hpp"
#include "memory/recording.hpp"
#include "memory/subscription.hpp"
#include "random_source.hpp"
#include "tracing/kernel_trace_condition.hpp"
#include "trials.hpp"

namespace {

struct item {
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
    std::string_view word;
};
// A part of the values, so that groups have several events.
struct other {
    std::uint16_t port;
    std::int64_t far;
    std::uint32_t own;
};
using counted = eventlog::provider<"counted", item, other>;

constexpr int events_each = 200;
constexpr int events_on_a_cpu = 10;
constexpr std::uint64_t buffer_size = std::uint64_t{256} << 10U;

const std::vector<std::string_view> integers{"tiny", "small", "port", "debt", "amount",
                                             "owed", "large", "far",  "own"};
const std::vector<std::string_view> small_integers{"tiny", "small", "port", "debt"};
const std::vector<std::string_view> keys{"tiny", "small", "port", "debt",  "amount", "lit",
                                         "far",  "own",   "tid",  "event", "cpu",    "level"};
const std::vector<std::string_view> other_keys{"word", "pid", "comm", "share"};
const std::vector<std::string_view> comparisons{"==", "!=", "<", "<=", ">", ">="};
// Limits of all types and of sums, and their neighbors.
const std::vector<std::uint64_t> sizes{0,          1,         2,          5,          128,
                                       256,        32768,     65536,      2147483648, 4294967296,
                                       UINT64_MAX, INT64_MAX, 1000000000, 3000000000};
const std::vector<std::string_view> words{"", "a", "ab", "a b", "tea"};

class generator : public eventlog::test::random_source {
  public:
    using random_source::random_source;

    std::string aggregation() {
        std::set<std::string> used;  // a repetition is an error
        const auto another = [&used](auto&& make) {
            std::string text = make();
            while (!used.insert(text).second) {
                text = make();
            }
            return text;
        };
        std::string text = another([this] { return call(); });
        for (std::size_t i = below(below(2) == 0 ? 3 : 2); i > 0; --i) {
            text += ", " + another([this] { return call(); });
        }
        const std::size_t count = below(below(2) == 0 ? 4 : 2);
        for (std::size_t i = 0; i < count; ++i) {
            text += (i == 0 ? " by " : ", ") + another([this] { return key(); });
        }
        return below(4) == 0 ? text + " | top 3" : text;
    }

    std::size_t keys_max() {
        return below(3) == 0 ? 1 + below(20) : elog::aggregator::keys_default;
    }

    std::string predicate() {
        switch (below(6)) {
            case 0:
                return fmt::format("port {} {}", pick(comparisons), below(4));
            case 1:
                return fmt::format("far > 0 || tiny {} {}", pick(comparisons), below(256));
            case 2:
                return fmt::format("lit && amount {} {}", pick(comparisons), below(1'000'000));
            case 3:
                return R"(event == "item" || own & 3)";
            case 4:
                return R"(word ~ "a*" || port == 1)";
            default:
                return fmt::format("far {} 100 && port != {}", pick(comparisons), below(4));
        }
    }

    item next_item() {
        return {static_cast<std::uint8_t>(size()),
                static_cast<std::int8_t>(size()),
                static_cast<std::uint16_t>(below(5)),
                static_cast<std::int16_t>(size()),
                static_cast<std::uint32_t>(size()),
                static_cast<std::int32_t>(size()),
                size(),
                static_cast<std::int64_t>(size()),
                below(2) != 0,
                static_cast<double>(below(4)) / 2,
                pick(words)};
    }
    other next_other() {
        return {static_cast<std::uint16_t>(below(5)), static_cast<std::int64_t>(size()),
                static_cast<std::uint32_t>(below(8))};
    }

  private:
    std::uint64_t size() { return pick(sizes) + below(3) - 1; }

    std::string key() { return std::string(below(12) == 0 ? pick(other_keys) : pick(keys)); }

    std::string call() {
        switch (below(12)) {
            case 0:
            case 1:
                return "count()";
            case 2:
                return fmt::format("count({})", below(4) == 0 ? "word" : pick(integers));
            case 3:
            case 4:
                return fmt::format("sum({})", pick(integers));
            case 5:
                return fmt::format("sum({})", below(2) == 0 ? "large" : "far");
            case 6:
                return fmt::format("avg({})", pick(integers));
            case 7:
                return fmt::format("quantize({})",
                                   below(4) == 0 ? pick(integers) : pick(small_integers));
            case 8:
                return fmt::format("hist({})", pick(small_integers));
            case 9:
                return fmt::format("hist({}, {})", below(2) == 0 ? "amount" : "own",
                                   10'000'000 + below(1000));
            case 10:
                return fmt::format("hist({}, {})", below(2) == 0 ? "tiny" : "small", 1 + below(50));
            default:
                return fmt::format("{}({})", below(2) == 0 ? "min" : "stddev", pick(integers));
        }
    }
};

/// One of the two computations of an aggregation.
class result {
  public:
    result(const std::string& aggregation, const std::string& where, std::size_t keys_max,
           const elog::event_patterns& patterns)
        : filter_(where.empty() ? nullptr
                                : std::make_unique<elog::record_filter>(
                                      elog::predicate("where", where), 0, chosen(patterns))),
          computed_(elog::aggregation::parse("aggregation", aggregation), filter_.get(), keys_max,
                    chosen(patterns)),
          intervals_(computed_, {}, [](auto) {}),
          sink_(filter_.get(), computed_, intervals_, [](const std::string& sentence) {
              std::fprintf(stderr, "%s\n", sentence.c_str());
          }) {}

    [[nodiscard]] elog::aggregator& computed() noexcept { return computed_; }
    [[nodiscard]] elog::record_sink& sink() noexcept { return sink_; }
    [[nodiscard]] std::string json() const {
        fmt::memory_buffer out;
        elog::append_json(out, computed_, {});
        return {out.data(), out.size()};
    }

  private:
    static elog::event_choice chosen(const elog::event_patterns& patterns) {
        return [&patterns](const auto& provider, const auto& event) {
            return patterns.matches(provider, event);
        };
    }

    std::unique_ptr<elog::record_filter> filter_;
    elog::aggregator computed_;
    elog::interval_aggregator intervals_;
    elog::aggregating_sink sink_;
};

struct totals {
    std::uint64_t pushed = 0;  // events that the kernel counted completely
    std::uint64_t partly = 0;  // events that it counted in part
    std::uint64_t by_bpf = 0;  // events that a BPF program counted
    std::uint64_t here = 0;    // events that it only recorded
    std::uint64_t taken = 0;   // records and counts in results
    std::uint64_t groups = 0;
    std::uint64_t overflowed = 0;  // aggregations with more keys than were kept
    std::uint64_t wrong = 0;
};

class trials {
  public:
    explicit trials(std::uint32_t seed) : random_(seed) {
        options_.patterns.add("counted");
        options_.buffer_size = buffer_size;
    }

    [[nodiscard]] const totals& all() const noexcept { return totals_; }

    void run() {
        const std::string aggregation = random_.aggregation();
        const std::string where = random_.below(2) == 0 ? "" : random_.predicate();
        const std::size_t keys_max = random_.keys_max();
        result by_memory(aggregation, where, keys_max, options_.patterns);
        result by_kernel(aggregation, where, keys_max, options_.patterns);
        elog::subscription source(options_);
        elog::recording in_memory(source, by_memory.sink());
        elog::kernel_trace_recording traced(tracing(by_kernel.computed(), where));
        std::string how;
        for (const elog::discovered_event& found : traced.found()) {
            note(found, how);
        }
        std::atomic<bool> is_over{false};
        const auto stop = [&] { return is_over.load(); };
        // An exception ends the program.
        std::thread memory_reader([&] { static_cast<void>(in_memory.run(stop)); });
        std::thread kernel_reader([&] {
            static_cast<void>(traced.run(by_kernel.sink(), stop, elog::recording::default_latency));
        });
        emit();
        is_over = true;
        memory_reader.join();
        kernel_reader.join();
        totals_.taken += by_memory.computed().taken();
        totals_.groups += by_memory.computed().groups();
        if (!is_same(by_memory, by_kernel)) {
            std::printf("%s where %s, %zu keys\n%smemory: %skernel: %s", aggregation.c_str(),
                        where.c_str(), keys_max, how.c_str(), by_memory.json().c_str(),
                        by_kernel.json().c_str());
            ++totals_.wrong;
        }
    }

  private:
    bool is_same(result& by_memory, result& by_kernel) {
        const elog::aggregator& one = by_memory.computed();
        const elog::aggregator& other = by_kernel.computed();
        if (one.overflowed() == 0) {
            return by_memory.json() == by_kernel.json();
        }
        ++totals_.overflowed;
        return other.groups() == other.keys_max() && one.damaged() == other.damaged() &&
               one.taken() + one.overflowed() == other.taken() + other.overflowed();
    }

    elog::tracing_options tracing(elog::aggregator& computed, const std::string& where) const {
        elog::tracing_options wanted{
            .patterns = options_.patterns, .buffer_size = buffer_size, .published = [] {
                return std::vector<elog::provider_schema>{
                    elog::provider_schema::parse(counted::schema())};
            }};
        if (!where.empty()) {
            wanted.condition = [asked = elog::predicate("where", where)](const auto& event) {
                return elog::condition_for(event, asked, 0);
            };
        }
        const auto asked =
            where.empty() ? nullptr : std::make_shared<const elog::predicate>("where", where);
        wanted.counting.decide = [&computed, asked](const auto& event, const auto& condition) {
            elog::pushdown_decision decided =
                elog::decide_pushdown(computed.query(), computed.keys_max(), event, condition);
            decided.by_bpf = elog::plan_bpf(computed.query(), computed.keys_max(), event,
                                            asked.get(), 0, eventlog::tracefs::bpf_cpus());
            return decided;
        };
        wanted.counting.take = [&computed](const auto& all) { elog::add_counts(computed, all); };
        wanted.counting.take_bpf = [&computed](const auto& all) {
            elog::merge_bpf_results(computed, all);
        };
        return wanted;
    }

    void note(const elog::discovered_event& found, std::string& how) {
        const auto& pushed = found.counted.pushed;
        const auto& by_bpf = found.counted.by_bpf;
        ++(by_bpf.plan            ? totals_.by_bpf
           : !pushed              ? totals_.here
           : pushed->rest.empty() ? totals_.pushed
                                  : totals_.partly);
        how += fmt::format("  {}: {}\n", found.event->kernel_name.event,
                           by_bpf.plan ? "BPF, by " + by_bpf.plan->by
                           : pushed    ? hist_trigger(pushed->asked)
                                       : found.counted.reason + "; " + by_bpf.reason);
    }

    void emit() {
        for (int i = 0; i < events_each; ++i) {
            if (i % events_on_a_cpu == 0) {
                move(static_cast<std::size_t>(i / events_on_a_cpu));
            }
            if (random_.below(4) != 0) {
                counted::emit(random_.next_item());
            } else {
                counted::emit(random_.next_other());
            }
        }
    }

    /// Moves to another CPU, if there is one.
    static void move(std::size_t turn) {
        const auto cpus = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(turn % cpus, &one);
        static_cast<void>(::sched_setaffinity(0, sizeof one, &one));
    }

    generator random_;
    elog::subscription_options options_;
    totals totals_;
};

int run(std::uint64_t count, std::uint32_t seed) {
    trials tried(seed);
    for (std::uint64_t i = 0; i < count && tried.all().wrong < 5; ++i) {
        tried.run();
    }
    const totals& all = tried.all();
    std::printf("aggregations %" PRIu64 " pushed %" PRIu64 " partly %" PRIu64 " bpf %" PRIu64
                " here %" PRIu64 " taken %" PRIu64 " groups %" PRIu64 " overflowed %" PRIu64
                " wrong %" PRIu64 "\n",
                count, all.pushed, all.partly, all.by_bpf, all.here, all.taken, all.groups,
                all.overflowed, all.wrong);
    return all.wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run_trials(argc, argv, 100, run);
}
