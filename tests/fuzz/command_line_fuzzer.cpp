// SPDX-License-Identifier: MIT
//
// Random command lines: they are rejected with a message, or all values are within the options'
// limits; and completions of the last word begin with it. The input is the words, each followed by
// a NUL.
#include <climits>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/user_error.hpp"
#include "cli/command_line.hpp"
#include "cli/global_options.hpp"
#include "cli/quantities.hpp"
#include "cli/time_points.hpp"
#include "completion/completion_words.hpp"
#include "fuzz_target.hpp"
#include "live/listening.hpp"
#include "live/sampling.hpp"
#include "output/line_template.hpp"
#include "schema/sampling.hpp"

namespace {

constexpr int level_max = 19;

template <class Parse>
void parse_one(const std::string& text, const Parse& parse) {
    try {
        parse(text);
    } catch (const elog::user_error& error) {
        check(error.what() != std::string());
    }
}

/// Parses the text as each kind of value of an option.
void parse_value(const std::string& text) {
    parse_one(text, [](const auto& each) { check(elog::parse_duration(each).count() > 0); });
    parse_one(text, [](const auto& each) { check(elog::parse_distance(each).count() >= 0); });
    parse_one(text, [](const auto& each) { check(elog::parse_size(each) <= INT64_MAX); });
    parse_one(text, [](const auto& each) {
        const std::uint64_t rate = elog::parse_max_rate(each);
        check(rate >= 1 && rate <= 1'000'000'000);
    });
    parse_one(text, [](const auto& each) {
        const std::uint64_t every = elog::parse_sampled_pattern(each).every;
        check(every >= 1 && every <= elog::sampling_every_max);
    });
    for (const std::int64_t start : {std::int64_t{0}, INT64_MAX, INT64_MIN}) {
        parse_one(text, [&](const auto& each) {
            static_cast<void>(elog::parse_time_point(each, start));
        });
    }
    parse_one(text, [](const auto& each) {
        for (const elog::named_field& field : elog::parse_field_list(each)) {
            check(!field.name.empty() && field.column <= each.size());
        }
    });
    parse_one(text, [](const auto& each) {
        check(each.empty() || !elog::line_template(each).parts().empty());
    });
}

/// A command line with one option of each kind, and the options of recordings.
class example {
  public:
    example() {
        elog::subcommand listen = line_.add_subcommand("listen", "Record events");
        elog::add_listening_options(listen, listening_);
        listen.action([this] { listened_ = true; });
        elog::subcommand keep = line_.add_subcommand("keep", "Write it down");
        keep.add_option("FILE", file_, "Where to").required().completes_as(elog::value_kind::file);
        const elog::command_option level =
            keep.add_option("-l,--level", level_, "How small").range(1, level_max).value_or(3);
        keep.add_flag("-q,--quiet", quiet_, "Say nothing").excludes(level);
        keep.add_option("--to", form_, "What").one_of({"this", "that"});
        keep.action([this] { kept_ = true; });
        elog::command_group group = line_.add_group("files", "Commands of files");
        elog::subcommand drop = group.add_subcommand("drop", "Remove it");
        drop.add_flag("-j,--json", as_json_, "Write JSON");
        drop.action([this] { dropped_ = true; });
        line_.overview({{"All", {{{"listen", "keep"}, "Both"}, {{"files"}}}}});
    }

    void run(const std::vector<std::string>& words) {
        try {
            line_.run(words);
        } catch (const elog::syntax_error& error) {
            check(error.what() != std::string() && !error.advice().empty());
            return;
        }
        check(int{listened_} + int{kept_} + int{dropped_} <= 1);
        check(!kept_ || (0 <= level_ && level_ <= level_max && (level_ == 0 || !quiet_)));
        if (listened_ && !listening_.events.empty()) {
            parse_one({}, [this](const auto&) {
                const elog::subscription_options options =
                    elog::make_subscription_options(listening_, elog::sampling_is_allowed);
                check(options.patterns.size() == listening_.events.size());
                check(options.sampling.every.size() == listening_.events.size());
            });
        }
    }

    [[nodiscard]] std::vector<elog::subcommand_description> describe() const {
        return line_.describe();
    }

  private:
    elog::command_line line_{"fuzzed", "A command line like any other", "1"};
    elog::listening_arguments listening_;
    std::string file_;
    std::optional<std::string> form_;
    int level_ = 0;
    bool quiet_ = false;
    bool listened_ = false;
    bool kept_ = false;
    bool as_json_ = false;
    bool dropped_ = false;
};

const std::vector<elog::subcommand_description>& commands_of_example() {
    static const std::vector<elog::subcommand_description> commands = example().describe();
    return commands;
}

/// Removes options of all commands. At most --json is added, behind the other words: of -jx, the
/// word -x stays.
void take_global_options(std::vector<std::string> words) {
    const std::size_t before = words.size();
    elog::global_options global;
    try {
        global.take_leading(words);
        global.take(words, commands_of_example());
    } catch (const elog::usage_error& error) {
        check(error.what() != std::string());
        return;
    }
    check(words.size() <= before + 1 && (words.size() <= before || words.back() == "--json"));
}

void complete_last(const std::vector<std::string>& words) {
    const std::vector<elog::subcommand_description>& commands = commands_of_example();
    const auto values = [](elog::value_kind /*kind*/) {
        return std::vector<elog::candidate>{{"shop:order_placed", "an event"}, {"4242", ""}};
    };
    for (const elog::candidate& each : elog::complete(commands, words, values).candidates) {
        check(each.word.starts_with(words.back()));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::cout.rdbuf(nullptr);  // the output of --help
    std::vector<std::string> words(1);
    for (const std::uint8_t byte : std::vector<std::uint8_t>(data, data + size)) {
        if (byte == 0) {
            words.emplace_back();
        } else {
            words.back().push_back(static_cast<char>(byte));
        }
    }
    for (const std::string& word : words) {
        parse_value(word);
    }
    complete_last(words);
    take_global_options(words);
    example().run(words);
    return 0;
}
