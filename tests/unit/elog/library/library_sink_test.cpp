// SPDX-License-Identifier: MIT
//
// Writing records with libelog.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>

#include "file/file_writer.hpp"
#include "platform/unique_fd.hpp"
#include "record_builder.hpp"
#include "recording_sample.hpp"
#include "run_in_child.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

/// The file of a sink.
class output {
  public:
    output() : file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
        EXPECT_TRUE(file_);
    }

    [[nodiscard]] int descriptor() const { return file_.get(); }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::ifstream file(path_);
        std::vector<std::string> found;
        for (std::string line; std::getline(file, line);) {
            found.push_back(line);
        }
        return found;
    }

  private:
    std::string path_ = test::scratch_directory() + "/library_sink";
    eventlog::core::unique_fd file_;
};

bool holds(std::string_view line, std::string_view part) {
    return line.find(part) != std::string_view::npos;
}

std::string make_sample(const std::string& name) {
    std::string path = test::scratch_directory() + "/library_" + name;
    test::write_sample(path);
    return path;
}

/// A file with one record of one event of this provider.
std::string make_single(const std::string& provider, const std::string& event) {
    const test::record_builder maker(
        "provider " + provider + " { event " + event + " info { size: u32 } }", "tester", 42);
    test::test_record made = maker.record(event);
    made.set("size", std::uint64_t{5});
    std::string path = test::scratch_directory() + "/library_" + provider;
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 2);
    writer.write_clock({0, 0, 1'000'000'000});
    writer.write_provider(maker.provider());
    const std::vector<std::uint8_t> bytes = made.bytes();
    writer.write_run({.ring = 0, .count = 1, .bytes = bytes});
    writer.write_end();
    return path;
}

TEST(library_sink, writes_text_lines_with_losses_in_place) {
    const output written;
    elog::sink sink = elog::write_text(written.descriptor());
    elog::source source =
        elog::open(make_sample("text.elog"),
                   {.on_loss = [&](const elog::loss& missing) { sink.put(missing); }});
    EXPECT_EQ(elog::pour(source, sink), 60U);
    sink.finish();
    const std::vector<std::string> lines = written.lines();
    ASSERT_EQ(lines.size(), 62U);
    EXPECT_TRUE(holds(lines[0], " [000] tester-42 file_test:mark number=1 check="));
    EXPECT_EQ(lines[30], "-- lost 5 events on CPU 0: full --");
    EXPECT_TRUE(holds(lines[31], "number=31 "));
    EXPECT_EQ(lines[61], "-- lost 3 events on CPU 1: full --");
}

TEST(library_sink, reports_loss_before_record_if_unreported) {
    const output written;
    elog::sink sink = elog::write_text(written.descriptor());
    elog::source source = elog::open(make_sample("gap.elog"));
    elog::pour(source, sink);
    sink.finish();
    const std::vector<std::string> lines = written.lines();
    ASSERT_EQ(lines.size(), 61U);
    EXPECT_EQ(lines[30], "-- lost 5 events on CPU 0: full --");
}

TEST(library_sink, reports_each_loss_of_merged_sources_once) {
    const output written;
    elog::sink sink = elog::write_text(written.descriptor());
    const auto put = [&](const elog::loss& missing) { sink.put(missing); };
    std::vector<elog::source> sources;
    sources.push_back(elog::open(make_sample("reported.elog"), {.on_loss = put}));
    sources.push_back(elog::open(make_sample("told_too.elog"), {.on_loss = put}));
    elog::source merged = elog::merge(std::move(sources));
    elog::pour(merged, sink);
    sink.finish();
    const std::vector<std::string> lines = written.lines();
    const auto lines_like = [&](std::string_view line) {
        return std::count(lines.begin(), lines.end(), line);
    };
    EXPECT_EQ(lines_like("-- lost 5 events on CPU 0: full --"), 2);
    EXPECT_EQ(lines_like("-- lost 3 events on CPU 1: full --"), 2);
    EXPECT_EQ(lines.size(), 124U);
}

TEST(library_sink, reports_losses_per_source) {
    const output written;
    elog::sink sink = elog::write_text(written.descriptor());
    elog::source telling =
        elog::open(make_sample("telling.elog"),
                   {.on_loss = [&](const elog::loss& missing) { sink.put(missing); }});
    elog::pour(telling, sink);  // reports a loss without a following record at its end
    elog::source silent = elog::open(make_sample("silent.elog"));
    elog::pour(silent, sink);
    sink.finish();
    const std::vector<std::string> lines = written.lines();
    ASSERT_EQ(lines.size(), 123U);
    EXPECT_EQ(lines[92], "-- lost 5 events on CPU 0: full --");
}

TEST(library_sink, writes_json_lines) {
    const output written;
    elog::sink sink = elog::write_json_lines(written.descriptor());
    elog::source source = elog::open(make_sample("json.elog"), {.where = "number == 7"});
    EXPECT_EQ(elog::pour(source, sink), 1U);
    sink.finish();
    const std::vector<std::string> lines = written.lines();
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_TRUE(holds(lines[0], R"("provider":"file_test","event":"mark")"));
    EXPECT_TRUE(holds(lines[0], R"("fields":{"number":7,)"));
}

TEST(library_sink, writes_table_of_requested_fields) {
    const output written;
    elog::source source = elog::open(make_sample("csv.elog"), {.fields = {"number"}});
    elog::sink sink = elog::write_csv(written.descriptor(), source.events());
    EXPECT_EQ(elog::pour(source, sink), 60U);
    sink.finish();
    const std::vector<std::string> lines = written.lines();
    ASSERT_GE(lines.size(), 61U);
    EXPECT_TRUE(lines[0].ends_with(",number")) << lines[0];
    EXPECT_TRUE(lines[1].ends_with(",1")) << lines[1];
}

TEST(library_sink, distinguishes_providers_with_same_id_in_two_files) {
    const output written;
    std::vector<elog::source> sources;
    sources.push_back(elog::open(make_single("one", "came")));
    sources.push_back(elog::open(make_single("two", "went")));
    elog::source merged = elog::merge(std::move(sources));
    elog::sink sink = elog::write_text(written.descriptor());
    EXPECT_EQ(elog::pour(merged, sink), 2U);
    sink.finish();
    std::vector<std::string> lines = written.lines();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_TRUE(holds(lines[0], "one:came size=5"));
    EXPECT_TRUE(holds(lines[1], "two:went size=5"));
}

TEST(library_sink, rejects_too_many_providers) {
    const output written;
    elog::sink sink = elog::write_text(written.descriptor());
    for (std::size_t i = 0; i < EVENTLOG_PROVIDERS_MAX; ++i) {
        const std::string name = "p" + std::to_string(i);
        sink.put({.count = 1, .reason = elog::loss_reason::busy, .provider = name});
    }
    elog::source source = elog::open(make_single("late", "came"));
    const elog::record record = source.get().value();
    // A sink stays usable after an error.
    EXPECT_THROW(sink.put(record), elog::error);
    EXPECT_THROW(sink.put(record), elog::error);
    sink.finish();
    EXPECT_EQ(written.lines().size(), EVENTLOG_PROVIDERS_MAX);
}

/// The output of elog print for the sample.
std::string text_of_sample(const std::string& name) {
    const output written;
    elog::sink sink = elog::write_text(written.descriptor());
    elog::source source = elog::open(make_sample(name));
    elog::pour(source, sink);
    sink.finish();
    std::string text;
    for (const std::string& line : written.lines()) {
        text += line + '\n';
    }
    return text;
}

/// Reads a pipe to its end.
std::string drain(int descriptor) {
    std::string text;
    std::array<char, 512> part{};
    for (ssize_t got = 0; (got = ::read(descriptor, part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
}

TEST(library_sink, waits_for_nonblocking_descriptor) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const eventlog::core::unique_fd read_end(ends[0]);
    eventlog::core::unique_fd write_end(ends[1]);
    ASSERT_EQ(::fcntl(write_end.get(), F_SETFL, O_NONBLOCK), 0);
    ASSERT_GE(::fcntl(write_end.get(), F_SETPIPE_SZ, 4096), 0);
    std::string taken;
    std::thread reader([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        taken = drain(read_end.get());
    });
    elog::sink sink = elog::write_text(write_end.get());
    elog::source source = elog::open(make_sample("slow.elog"));
    EXPECT_NO_THROW({
        elog::pour(source, sink);
        sink.finish();
    });
    write_end = eventlog::core::unique_fd();
    reader.join();
    const std::string expected = text_of_sample("quick.elog");
    EXPECT_GT(expected.size(), 4096U);  // more than the pipe accepts at once
    EXPECT_EQ(taken, expected);
}

TEST(library_sink, does_not_repeat_output_after_error) {
    const std::string expected = text_of_sample("before.elog");
    const output written;
    const int status = test::run_in_child([&] {
        static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
        elog::sink sink = elog::write_text(written.descriptor());
        elog::source source = elog::open(make_sample("behind.elog"));
        elog::pour(source, sink);
        rlimit limit{};
        static_cast<void>(::getrlimit(RLIMIT_FSIZE, &limit));
        const rlimit narrow{1000, limit.rlim_max};
        static_cast<void>(::setrlimit(RLIMIT_FSIZE, &narrow));
        try {
            sink.flush();
            return 1;
        } catch (const elog::error&) {
            static_cast<void>(::setrlimit(RLIMIT_FSIZE, &limit));
        }
        sink.finish();
        return 0;
    });
    EXPECT_EQ(status, 0);
    std::string text;
    for (const std::string& line : written.lines()) {
        text += line + '\n';
    }
    EXPECT_EQ(text, expected);
}

TEST(library_sink, reports_write_error) {
    const eventlog::core::unique_fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    elog::sink sink = elog::write_text(full.get());
    elog::source source = elog::open(make_sample("full.elog"));
    EXPECT_THROW(
        {
            elog::pour(source, sink);
            sink.finish();
        },
        elog::error);
}

TEST(library_sink, accepts_custom_sink) {
    struct adder {
        std::uint64_t sum = 0;
        void put(const elog::record& record) {
            sum += record["number"].as<std::uint64_t>().value_or(0);
        }
    };
    static_assert(elog::takes_records<adder> && elog::takes_records<elog::sink>);
    static_assert(elog::gives_records<elog::source> && !elog::gives_records<adder>);
    elog::source source = elog::open(make_sample("sum.elog"));
    adder sum;
    elog::pour(source, sum);
    EXPECT_EQ(sum.sum, 60U * 61U / 2);
}

}  // namespace
