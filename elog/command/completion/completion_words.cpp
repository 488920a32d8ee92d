// SPDX-License-Identifier: MIT
#include "completion/completion_words.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "cli/global_options.hpp"

namespace elog {
namespace {

struct candidate_text {
    const char* word;
    const char* description;
};

bool begins_with(std::string_view text, std::string_view beginning) {
    return text.substr(0, beginning.size()) == beginning;
}

bool is_option_word(std::string_view word) {
    return word.size() > 1 && word.front() == '-';
}

void add_if_matching(completion& found, std::string_view typed, std::string word,
                     std::string description) {
    if (begins_with(word, typed)) {
        found.candidates.push_back({std::move(word), std::move(description)});
    }
}

/// A pattern may end in a level: "shop:*@warn".
void add_levels(completion& found, std::string_view typed) {
    const std::size_t at = typed.find('@');
    if (at == std::string_view::npos) {
        return;
    }
    for (const char* level : {"error", "warn", "info", "verbose", "trace"}) {
        add_if_matching(found, typed, std::string(typed.substr(0, at + 1)) + level, "");
    }
}

/// `before` precedes the value in the same word: "--lang=".
completion complete_value(const option_description& option, std::string_view before,
                          std::string_view typed, const value_lookup& look_up) {
    completion found;
    for (const std::string& choice : option.choices) {
        add_if_matching(found, typed, choice, "");
    }
    switch (option.kind) {
        case value_kind::text:
            break;
        case value_kind::file:
        case value_kind::new_file:
            found.rest = shell_completion::files;
            break;
        case value_kind::source:
            found.rest = shell_completion::files;
            [[fallthrough]];
        case value_kind::event:
        case value_kind::process:
        case value_kind::process_name:
        case value_kind::subscription:
            for (candidate& each : look_up(option.kind)) {
                add_if_matching(found, typed, std::move(each.word), std::move(each.description));
            }
    }
    if (option.kind == value_kind::event) {
        add_levels(found, typed);
    }
    for (candidate& each : found.candidates) {
        each.word.insert(0, before);
    }
    return found;
}

/// The words of a subcommand's line except the last.
class typed_line {
  public:
    typed_line(const subcommand_description& command, const std::vector<std::string>& words)
        : command_(command) {
        for (std::size_t i = 1; i + 1 < words.size(); ++i) {
            take(words[i]);
        }
    }

    /// The option whose value is the last word, or nullptr.
    [[nodiscard]] const option_description* pending_option() const noexcept { return open_; }

    /// The argument that is the last word, or nullptr if there are no more arguments.
    [[nodiscard]] const option_description* next_argument() const noexcept {
        const auto& all = command_.arguments;
        if (arguments_ < all.size()) {
            return &all[arguments_];
        }
        return all.empty() || !all.back().may_repeat ? nullptr : &all.back();
    }

    [[nodiscard]] bool is_allowed(const option_description& option) const {
        return option.may_repeat ||
               std::find(given_.begin(), given_.end(), &option) == given_.end();
    }

    [[nodiscard]] const option_description* option_of(std::string_view name) const {
        for (const option_description& each : command_.options) {
            if (std::find(each.names.begin(), each.names.end(), name) != each.names.end()) {
                return &each;
            }
        }
        return nullptr;
    }

  private:
    void take(const std::string& word) {
        if (open_ != nullptr) {
            open_ = nullptr;
            return;
        }
        if (!is_option_word(word)) {
            ++arguments_;
            return;
        }
        if (!begins_with(word, "--")) {
            parse_short_options(word);
            return;
        }
        const std::size_t equals = word.find('=');
        const option_description* option = option_of(word.substr(0, equals));
        if (option == nullptr) {
            return;
        }
        given_.push_back(option);
        if (option->takes_value && equals == std::string::npos) {
            open_ = option;
        }
    }

    /// A word may have several short options; the rest after one with a value is that value.
    void parse_short_options(const std::string& word) {
        for (std::size_t i = 1; i < word.size(); ++i) {
            const option_description* option = option_of(std::string{'-', word[i]});
            if (option == nullptr) {
                return;
            }
            given_.push_back(option);
            if (option->takes_value) {
                open_ = i + 1 == word.size() ? option : nullptr;
                return;
            }
        }
    }

    const subcommand_description& command_;
    std::vector<const option_description*> given_;
    const option_description* open_ = nullptr;
    std::size_t arguments_ = 0;
};

completion complete_option(const subcommand_description& command, const typed_line& line,
                           std::string_view typed, const value_lookup& look_up) {
    const std::size_t equals = typed.find('=');
    if (equals != std::string_view::npos) {
        const option_description* option = line.option_of(typed.substr(0, equals));
        return option == nullptr ? completion()
                                 : complete_value(*option, typed.substr(0, equals + 1),
                                                  typed.substr(equals + 1), look_up);
    }
    completion found;
    for (const option_description& option : command.options) {
        if (line.is_allowed(option)) {
            for (const std::string& name : option.names) {
                add_if_matching(found, typed, name, option.description);
            }
        }
    }
    return found;
}

constexpr candidate_text leading_options[] = {
    {"--at", "Run in the container of that process"},
    {"--help", "Print the commands"},
    {"--json", "Write JSON"},
    {"--user", "Run as that user, from root"},
    {"--version", "Print the version"},
    {"-n", "Query in one line: 'PROVIDER:EVENT /PREDICATE/ { ACTION }'"},
};

completion complete_command(const std::vector<subcommand_description>& commands,
                            std::string_view typed) {
    completion found;
    for (const subcommand_description& command : commands) {
        add_if_matching(found, typed, command.name, command.description);
    }
    return found;
}

completion complete_first_word(const std::vector<subcommand_description>& commands,
                               std::string_view typed) {
    completion found = complete_command(commands, typed);
    if (!typed.empty()) {
        for (const auto& [word, description] : leading_options) {
            add_if_matching(found, typed, word, description);
        }
        for (const option_description& option : global_options::describe()) {
            for (const std::string& name : option.names) {
                if (name.starts_with("--")) {
                    add_if_matching(found, typed, name, option.description);
                }
            }
        }
        std::sort(
            found.candidates.begin(), found.candidates.end(),
            [](const candidate& one, const candidate& other) { return one.word < other.word; });
    }
    return found;
}

const subcommand_description* find_command(const std::vector<subcommand_description>& commands,
                                           const std::string& name) {
    const auto found =
        std::find_if(commands.begin(), commands.end(),
                     [&](const subcommand_description& each) { return each.name == name; });
    return found == commands.end() ? nullptr : &*found;
}

/// `words` begin with the command's name.
completion complete_rest(const subcommand_description& command,
                         const std::vector<std::string>& words, const value_lookup& look_up) {
    const typed_line line(command, words);
    const std::string& typed = words.back();
    if (line.pending_option() != nullptr) {
        return complete_value(*line.pending_option(), "", typed, look_up);
    }
    if (!typed.empty() && typed.front() == '-') {
        return complete_option(command, line, typed, look_up);
    }
    const option_description* argument = line.next_argument();
    return argument == nullptr ? complete_option(command, line, typed, look_up)
                               : complete_value(*argument, "", typed, look_up);
}

}  // namespace

completion complete(const std::vector<subcommand_description>& commands,
                    const std::vector<std::string>& words, const value_lookup& look_up) {
    if (words.size() <= 1) {
        return complete_first_word(commands, words.empty() ? std::string_view() : words.front());
    }
    // The commands after "help" are completed like those in front of options.
    const bool is_help = words.front() == "help" && !begins_with(words.back(), "-");
    std::vector<std::string> rest(words.begin() + (is_help ? 1 : 0), words.end());
    const std::vector<subcommand_description>* among = &commands;
    while (rest.size() > 1) {
        const subcommand_description* const command = find_command(*among, rest.front());
        if (command == nullptr) {
            return {};
        }
        if (command->subcommands.empty() || begins_with(rest[1], "-")) {
            if (is_help) {
                return {};
            }
            if (std::find(rest.begin(), rest.end() - 1, "--") != rest.end() - 1) {
                return {{}, shell_completion::commands};
            }
            return complete_rest(*command, rest, look_up);
        }
        among = &command->subcommands;
        rest.erase(rest.begin());
    }
    return complete_command(*among, rest.front());
}

}  // namespace elog
