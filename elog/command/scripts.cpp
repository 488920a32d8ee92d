// SPDX-License-Identifier: MIT
#include "scripts.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/command_line.hpp"
#include "cli/leading_option.hpp"
#include "cli/whole_files.hpp"
#include "script/script_mistake.hpp"

namespace elog {
namespace {

/// elog record and elog agg listen to programs, or have the recording in another place.
bool has_input(const std::vector<std::string>& words, std::size_t first) {
    return std::any_of(
        words.begin() + static_cast<std::ptrdiff_t>(first), words.end(),
        [](const std::string& word) { return word == "-i" || word.starts_with("--input"); });
}

}  // namespace

script_input script_input::from_file(const std::string& path) {
    script_input made;
    made.text = read_file_up_to(path, script_size_max + 1);
    made.file = path;
    if (made.text.size() > script_size_max) {
        throw usage_error("{} is no script: it is longer than {} characters.", path,
                          script_size_max);
    }
    return made;
}

void script_input::locate_mistakes(const std::function<void()>& function) const {
    try {
        function();
    } catch (const syntax_error&) {
        throw;
    } catch (const user_error& error) {
        script_mistake found = locate_mistake(error.what(), text, file, option);
        if (found.message.starts_with("--where,")) {
            throw usage_error("{}", found.message);
        }
        if (found.excerpt.empty()) {
            throw;
        }
        throw syntax_error(found.message, std::move(found.excerpt));
    }
}

script script_input::parse() const {
    script made;
    locate_mistakes([&] { made = script::parse(text); });
    return made;
}

void expand_script(std::vector<std::string>& words) {
    script_input input;
    std::size_t used = 0;  // words in front that are the script
    if (const std::optional<std::string> text = take_leading_option(words, "-n")) {
        words.insert(words.begin(), {"run", "-n", *text});
        input.text = *text;
        used = 3;
    } else if (words.size() > 1 && words[0] == "run" && !words[1].starts_with('-')) {
        input = script_input::from_file(words[1]);
        used = 2;
    } else {
        return;
    }
    const std::optional<std::vector<std::string>> meant = input.parse().words();
    if (meant && !has_input(words, used)) {
        words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(used));
        words.insert(words.begin(), meant->begin(), meant->end());
    }
}

}  // namespace elog
