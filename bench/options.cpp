// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "failure.hpp"

namespace bench {
namespace {

/// The value of `--name VALUE` or `--name=VALUE` at `index`, if it is that option.
std::optional<std::string> take_value(std::string_view name, int count, char** words, int& index) {
    const std::string_view word = words[index];
    if (!word.starts_with(name)) {
        return std::nullopt;
    }
    const std::string_view rest = word.substr(name.size());
    std::string value;
    if (rest.starts_with('=')) {
        value = rest.substr(1);
    } else if (!rest.empty()) {
        return std::nullopt;
    } else if (index + 1 < count) {
        value = words[++index];
    }
    if (value.empty()) {
        throw failure("{} needs a path behind it.", name);
    }
    return value;
}

}  // namespace

options parse_options(int count, char** words) {
    options chosen;
    for (int index = 1; index < count; ++index) {
        const std::string_view word = words[index];
        if (const auto json = take_value("--json", count, words, index)) {
            chosen.json = *json;
        } else if (const auto elog = take_value("--elog", count, words, index)) {
            chosen.elog = *elog;
        } else if (word == "--quick") {
            chosen.quick = true;
        } else if (word == "--help" || word == "-h") {
            chosen.help = true;
        } else if (word.starts_with("--benchmark_")) {
            chosen.benchmark.emplace_back(word);
        } else {
            throw failure("There is no option '{}'. See --help.", word);
        }
    }
    return chosen;
}

void print_usage() {
    fmt::print("usage: eventlog_bench [--json FILE] [--elog PATH] [--quick] [--benchmark_...]\n"
               "\n"
               "  --json FILE      write the ratios to FILE as {{name: ratio}}\n"
               "  --elog PATH      the elog command that listens (default: the build's)\n"
               "  --quick          a second or two: shows that it runs, not how fast\n"
               "  --benchmark_...  handed to Google Benchmark, for example --benchmark_out=FILE\n");
}

std::string find_elog(const options& chosen) {
    namespace fs = std::filesystem;
    if (!chosen.elog.empty()) {
        if (::access(chosen.elog.c_str(), X_OK) != 0) {
            throw failure("'{}' cannot be run. Name the elog command with --elog.", chosen.elog);
        }
        return chosen.elog;
    }
    const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
    for (const fs::path& path : {here / "elog", here.parent_path() / "elog" / "elog"}) {
        if (fs::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0) {
            return path;
        }
    }
    throw failure("The elog command, which has to listen, is not near this program. Build it, or "
                  "name it with --elog.");
}

}  // namespace bench
