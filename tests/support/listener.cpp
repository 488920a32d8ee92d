// SPDX-License-Identifier: MIT
#include "listener.hpp"

#include <sched.h>

#include <cstring>
#include <stdexcept>

#include <gtest/gtest.h>

#include "record/ring_records.hpp"

namespace eventlog::test {
namespace {

elog::subscription_options make_options(std::string_view pattern, event_listener::options with) {
    elog::subscription_options options;
    options.patterns.add(pattern);
    options.buffer_size = with.buffer_size;
    options.buffers_per_cpu = with.buffers_per_cpu;
    options.overwrite = with.overwrite;
    return options;
}

elog::subscription_options make_options(const std::vector<std::string>& patterns,
                                        const std::vector<std::uint64_t>& sessions) {
    elog::subscription_options options;
    for (const std::string& pattern : patterns) {
        options.patterns.add(pattern);
    }
    for (const std::uint64_t session : sessions) {
        options.patterns.add_session(session);
    }
    options.buffer_size = event_listener::options{}.buffer_size;
    return options;
}

}  // namespace

event_listener::event_listener(const std::vector<std::string>& patterns,
                               const std::vector<std::uint64_t>& sessions)
    : source_(make_options(patterns, sessions)),
      reader_(source_.region(), elog::producer_policy_of(source_.header())) {}

event_listener::event_listener(std::string_view pattern, options with)
    : source_(make_options(pattern, with)),
      reader_(source_.region(), elog::producer_policy_of(source_.header())) {}

event_listener::~event_listener() = default;

void event_listener::poll() {
    reader_.poll([this](const elog::record_run& run) {
        elog::run_reader reader(run);
        std::uint64_t count = 0;
        for (elog::record_view record; reader.next(record); ++count) {
            const std::uint8_t* const end = record.payload.data() + record.payload.size();
            received_record& received = records_.emplace_back();
            received.header = record;
            received.header.payload = {};
            received.ring = run.ring;
            received.sequence = run.sequence + count;
            received.lost_before = count == 0 ? run.lost_before : 0;
            received.payload.assign(record.payload.begin(), record.payload.end());
            received.padding.assign(end, run.bytes.data() + reader.position());
        }
        EXPECT_EQ(count, run.count);
    });
    reader_.read_new_providers([this](elog::provider_instance&& provider) {
        const std::uint32_t id = provider.id;
        providers_.insert_or_assign(id, std::move(provider));
    });
}

void event_listener::finish() {
    source_.end();
    poll();
    static_cast<void>(reader_.finish());
}

elog::field_value event_listener::field(const received_record& record,
                                        std::string_view name) const {
    const elog::provider_schema& schema = providers_.at(record.header.provider).schema;
    for (const elog::field_schema& field : schema.events.at(record.header.event).fields) {
        if (field.name == name) {
            return elog::decode_field(field, record.payload);
        }
    }
    throw std::out_of_range("no field of that name");
}

std::string event_listener::event_name(const received_record& record) const {
    return providers_.at(record.header.provider).schema.events.at(record.header.event).name;
}

std::string event_listener::received_names() {
    poll();
    std::string names;
    for (const received_record& record : records_) {
        names += (names.empty() ? "" : " ") + event_name(record);
    }
    return names;
}

elog::ring_totals event_listener::totals() const {
    elog::ring_totals sum;
    for (const elog::ring_totals& ring : reader_.rings()) {
        sum.read += ring.read;
        sum.bytes += ring.bytes;
        sum.lost += ring.lost;
        sum.damaged += ring.damaged;
        sum.overwritten += ring.overwritten;
    }
    return sum;
}

std::uint64_t event_listener::lost_by_providers() const {
    std::uint64_t lost = 0;
    for (const auto& [id, provider] : providers_) {
        const elog::provider_losses losses = reader_.losses_of(id);
        lost += losses.too_large + losses.busy;
    }
    return lost;
}

std::uint64_t event_listener::truncated_by_providers() const {
    std::uint64_t truncated = 0;
    for (const auto& [id, provider] : providers_) {
        truncated += reader_.losses_of(id).truncated;
    }
    return truncated;
}

pinned_to_one_cpu::pinned_to_one_cpu() : before_(sizeof(cpu_set_t)), cpu_(::sched_getcpu()) {
    cpu_set_t set;
    EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    std::memcpy(before_.data(), &set, sizeof set);
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(cpu_), &set);
    EXPECT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
}

pinned_to_one_cpu::~pinned_to_one_cpu() {
    cpu_set_t set;
    std::memcpy(&set, before_.data(), sizeof set);
    static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
}

}  // namespace eventlog::test
