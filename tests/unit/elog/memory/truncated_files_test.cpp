// SPDX-License-Identifier: MIT
//
// Another process truncates the file of a subscription or a provider while a program reads it with
// libelog, which installs no signal handlers: the read fails with an error text, and the program
// continues.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>
#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "listener.hpp"
#include "memory/recording.hpp"
#include "platform/unique_fd.hpp"
#include "process_files.hpp"
#include "run_in_child.hpp"
#include "scratch.hpp"
#include "shm/directory.hpp"
#include "shm/process_file.hpp"
#include "shm/process_file_layout.hpp"

namespace {

namespace core = eventlog::core;
using eventlog::test::event_listener;
using eventlog::test::run_in_child;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct snip {
    std::uint64_t number;
};

// Only children emit: a writer to a truncated file is killed by SIGBUS.
using truncated_files_test = eventlog::provider<"cut_files", snip>;

void emit_in_child(std::uint64_t count) {
    EXPECT_EQ(run_in_child([count] {
                  for (std::uint64_t i = 0; i < count; ++i) {
                      truncated_files_test::emit(snip{i});
                  }
                  return 0;
              }),
              0);
}

void truncate_in_child(int file, std::uint64_t size) {
    EXPECT_EQ(
        run_in_child([=] { return ::ftruncate(file, static_cast<off_t>(size)) == 0 ? 0 : 1; }), 0);
}

/// A child that repeats an action until it is killed.
class other_process {
  public:
    explicit other_process(const std::function<void()>& work) : id_(::fork()) {
        EXPECT_GE(id_, 0);
        if (id_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no child outlives a crashed test
            for (;;) {
                work();
            }
        }
    }
    ~other_process() {
        EXPECT_EQ(::kill(id_, SIGKILL), 0);
        EXPECT_EQ(::waitpid(id_, nullptr, 0), id_);
    }
    other_process(const other_process&) = delete;
    other_process& operator=(const other_process&) = delete;

    [[nodiscard]] pid_t id() const { return id_; }

  private:
    pid_t id_;
};

/// The path of the only subscription.
std::string subscription_path() {
    return eventlog::test::eventlog_directory() + "/subscriptions/00";
}

/// Calls every reading operation. Throws user_error at the first that fails.
void ask_everything(event_listener& listener) {
    elog::region_reader& reader = listener.reader();
    listener.poll();
    static_cast<void>(reader.wait(milliseconds(1)));
    static_cast<void>(reader.providers_refused());
    for (const auto& [id, provider] : listener.providers()) {
        static_cast<void>(reader.losses_of(id));
    }
    elog::check_not_truncated(listener.source().region());
}

class truncated_region : public ::testing::TestWithParam<bool> {
  protected:
    event_listener listener{"cut_files:*", {128U << 10U, 2, GetParam()}};
    int file = listener.source().file().get();
    const core::region_geometry& geometry = listener.source().geometry();
};

TEST_P(truncated_region, fails_every_reader_operation) {
    emit_in_child(10);
    listener.poll();
    EXPECT_EQ(listener.totals().read, 10U);
    ASSERT_EQ(listener.providers().size(), 1U);
    truncate_in_child(file, 0);
    elog::region_reader& reader = listener.reader();
    EXPECT_THROW(listener.poll(), elog::user_error);
    EXPECT_THROW(reader.read_new_providers([](elog::provider_instance&&) {}), elog::user_error);
    EXPECT_THROW(static_cast<void>(reader.wait(milliseconds(1))), elog::user_error);
    EXPECT_THROW(static_cast<void>(reader.providers_refused()), elog::user_error);
    EXPECT_THROW(static_cast<void>(reader.losses_of(listener.providers().begin()->first)),
                 elog::user_error);
    EXPECT_THROW(static_cast<void>(reader.finish()), elog::user_error);
    EXPECT_EQ(listener.totals().read, 10U);
}

TEST_P(truncated_region, is_an_error_at_any_length) {
    emit_in_child(10);
    for (const std::uint64_t size :
         {geometry.buffers_offset, geometry.head_size(), geometry.head_size() / 2,
          geometry.providers_offset, geometry.rings_offset, std::uint64_t{4096},
          std::uint64_t{1}}) {
        truncate_in_child(file, size);
        EXPECT_THROW(ask_everything(listener), elog::user_error) << size;
    }
}

TEST_P(truncated_region, concurrent_truncation_does_not_harm_reader) {
    const auto whole = static_cast<off_t>(geometry.total_size);
    const off_t sizes[] = {0, static_cast<off_t>(geometry.head_size() / 2), 4096};
    std::size_t next = 0;
    const other_process enemy([&] {
        static_cast<void>(::ftruncate(file, sizes[next++ % std::size(sizes)]));
        static_cast<void>(::ftruncate(file, whole));
    });
    const steady_clock::time_point end = steady_clock::now() + milliseconds(300);
    std::uint64_t refused = 0;
    // On a busy machine, wait until reader and writer have collided.
    const steady_clock::time_point last = end + std::chrono::seconds(30);
    while (steady_clock::now() < (refused == 0 ? last : end)) {
        try {
            ask_everything(listener);
        } catch (const elog::user_error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 0U);
}

INSTANTIATE_TEST_SUITE_P(modes, truncated_region, ::testing::Bool(), [](const auto& each) {
    return std::string(each.param ? "overwrite" : "discard");
});

class deaf_sink : public elog::record_sink {
  public:
    void start(const elog::region_view& /*source*/) override {}
    void take_clock(const eventlog_clock_sample& /*pair*/) override {}
    void take_provider(const elog::provider_instance& /*provider*/) override {}
    void take_run(const elog::record_run& /*run*/) override {}
    void take_loss(const elog::loss_report& /*loss*/) override {}
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void finish() override {}
};

/// The recording is queried for losses by a live display.
TEST(truncated_recording, fails_every_operation) {
    elog::subscription_options options;
    options.patterns.add("cut_files:*");
    elog::subscription source(options);
    deaf_sink sink;
    elog::recording recording(source, sink);
    emit_in_child(10);
    recording.poll();
    ASSERT_EQ(recording.providers().size(), 1U);
    truncate_in_child(source.file().get(), 0);
    EXPECT_THROW(static_cast<void>(recording.losses_of(recording.providers().begin()->first)),
                 elog::user_error);
    EXPECT_THROW(static_cast<void>(recording.current_summary()), elog::user_error);
    EXPECT_THROW(recording.poll(), elog::user_error);
}

TEST(truncated_subscription, fails_waiting_consumer) {
    for (const off_t size : {off_t{0}, off_t{4096}, off_t{1} << 20U}) {
        elog::source source = elog::open("memory:cut_files");
        emit_in_child(1);
        EXPECT_TRUE(source.get(std::chrono::seconds(30)).has_value());
        std::thread other([size] {
            std::this_thread::sleep_for(milliseconds(30));  // the reader probably waits by then
            EXPECT_EQ(
                run_in_child([size] { return ::truncate(subscription_path().c_str(), size); }), 0);
        });
        EXPECT_THROW(static_cast<void>(source.get(std::chrono::seconds(30))), elog::error) << size;
        other.join();
        EXPECT_THROW(static_cast<void>(source.try_get()), elog::error) << size;
    }
}

TEST(truncated_subscription, does_not_affect_next_subscription) {
    {
        elog::source source = elog::open("memory:cut_files");
        ASSERT_EQ(::truncate(subscription_path().c_str(), 0), 0);
    }
    event_listener listener("cut_files:*");
    emit_in_child(3);
    listener.finish();
    EXPECT_EQ(listener.totals().read, 3U);
}

/// The file of a child that lives as long as the fixture, and its provider in it.
class truncated_provider : public ::testing::Test {
  protected:
    void SetUp() override {
        core::error_text error;
        const core::directory_path path = core::current_directory();
        ASSERT_TRUE(where.open(path, core::if_missing::create, error));
        // The child publishes its provider when it starts.
        const steady_clock::time_point end = steady_clock::now() + std::chrono::seconds(30);
        while (!eventlog::test::is_published(child->id(), "cut_files")) {
            ASSERT_LT(steady_clock::now(), end);
            std::this_thread::sleep_for(milliseconds(1));
        }
        name = eventlog::test::process_file_path(child->id());
        ASSERT_TRUE(file.open(where, std::filesystem::path(name).filename().c_str(), error))
            << error.text().c_str();
        provider.emplace(file);
        while (provider->next() && !is_cut_files(provider->entry())) {
        }
        ASSERT_TRUE(is_cut_files(provider->entry()));
    }
    void TearDown() override {
        child.reset();
        ::unlink(name.c_str());
    }

    std::optional<other_process> child{std::in_place, [] { ::pause(); }};
    core::directory where;
    core::process_file file;
    std::optional<core::published_provider> provider;
    std::string name;

  private:
    [[nodiscard]] bool is_cut_files(const eventlog_published_provider& entry) const {
        const auto wanted = eventlog::test::find_published(child->id(), "cut_files");
        return wanted && entry.gate_offset == wanted->gate_offset;
    }
};

TEST_F(truncated_provider, is_skipped_by_subscriptions) {
    ASSERT_TRUE(provider->set_bit(0, 15));
    ASSERT_EQ(::truncate(name.c_str(), EVENTLOG_PROCESS_HEADER_SIZE), 0);
    EXPECT_FALSE(provider->set_bit(0, 15));
    provider->detach_slot(15);
    provider->notify();
}

TEST_F(truncated_provider, concurrent_truncation_does_not_harm_subscription) {
    const int descriptor = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    const off_t whole = ::lseek(descriptor, 0, SEEK_END);
    {
        const other_process enemy([=] {
            static_cast<void>(::ftruncate(descriptor, 4096));
            static_cast<void>(::ftruncate(descriptor, whole));
        });
        const steady_clock::time_point end = steady_clock::now() + milliseconds(300);
        while (steady_clock::now() < end) {
            static_cast<void>(provider->set_bit(0, 15));
            provider->detach_slot(15);
            provider->notify();
            const elog::source source = elog::open("memory:cut_files");
        }
    }
    ::close(descriptor);
}

}  // namespace
