// SPDX-License-Identifier: MIT
#include "cli/global_options.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/leading_option.hpp"
#include "cli/pager.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

bool verbose_requested = false;

constexpr std::pair<std::string_view, color_choice> color_choices[] = {
    {"auto", color_choice::automatic},
    {"always", color_choice::always},
    {"never", color_choice::never}};

color_choice parse_color(std::string_view value) {
    const auto* const found =
        std::find_if(std::begin(color_choices), std::end(color_choices),
                     [value](const auto& known) { return known.first == value; });
    if (found == std::end(color_choices)) {
        throw usage_error("--color is auto, always or never, and not '{}'.", value);
    }
    return found->second;
}

std::string_view name_of(std::string_view word) noexcept {
    return word.substr(0, word.find('='));
}

/// Options in front of a command that act before the command line is parsed: leading_option.hpp.
bool is_leading(std::string_view word) noexcept {
    const std::string_view name = name_of(word);
    return name == "--user" || name == "--at" || name == "-n";
}

/// The rest of a command runs as another user or in a container.
bool leaves_user(std::string_view word) noexcept {
    return name_of(word) == "--user" || name_of(word) == "--at";
}

}  // namespace

/// The options of the command, or of the group and its subcommand, that the words name.
class global_options::known_options {
  public:
    known_options() = default;
    known_options(const std::vector<std::string>& words,
                  const std::vector<subcommand_description>& commands) {
        const std::vector<subcommand_description>* among = &commands;
        for (const std::string& word : words) {
            const auto found = std::find_if(among->begin(), among->end(),
                                            [&](const auto& each) { return each.name == word; });
            if (found != among->end()) {
                command_ = &*found;
                among = &found->subcommands;
            } else if (!is_option(word)) {
                break;
            }
        }
    }

    [[nodiscard]] bool is_command_known() const noexcept { return command_ != nullptr; }

    [[nodiscard]] const option_description* find(std::string_view name) const {
        if (command_ == nullptr) {
            return nullptr;
        }
        for (const option_description& option : command_->options) {
            const auto& names = option.names;
            if (std::find(names.begin(), names.end(), name) != names.end()) {
                return &option;
            }
        }
        return nullptr;
    }

  private:
    const subcommand_description* command_ = nullptr;
};

/// -j belongs to the commands; in front of one, it is meant for it.
bool global_options::take_letter(char letter, bool is_leading) noexcept {
    quiet_ = quiet_ || letter == 'q';
    verbose_ = verbose_ || letter == 'v';
    json_ = json_ || (is_leading && letter == 'j');
    return letter == 'q' || letter == 'v' || (is_leading && letter == 'j');
}

/// Takes the long option at `at`. Returns the number of words that it has; 0: it is another option.
std::size_t global_options::take_long(const std::vector<std::string>& words, std::size_t at) {
    const std::string& word = words[at];
    if (name_of(word) == "--color") {
        const bool has_own_value = word.size() != name_of(word).size();
        if (!has_own_value && at + 1 == words.size()) {
            throw usage_error("--color needs a value: auto, always or never.");
        }
        color_ = parse_color(has_own_value ? std::string_view(word).substr(name_of(word).size() + 1)
                                           : std::string_view(words[at + 1]));
        return has_own_value ? 1 : 2;
    }
    for (const std::string_view flag : {"--quiet", "--verbose", "--no-pager"}) {
        if (name_of(word) == flag && word != flag) {
            throw usage_error("'{}' gives a value to a flag. Write {} without one.", word, flag);
        }
    }
    quiet_ = quiet_ || word == "--quiet";
    verbose_ = verbose_ || word == "--verbose";
    may_page_ = may_page_ && word != "--no-pager";
    return word == "--quiet" || word == "--verbose" || word == "--no-pager" ? 1 : 0;
}

/// Takes the letters of a word like -dqf. Returns false if nothing is left of it. `has_value`: the
/// next word is the value of its last letter.
bool global_options::take_short(std::string& word, const known_options& known, bool& has_value) {
    std::string left = "-";
    for (std::size_t i = 1; i < word.size(); ++i) {
        const option_description* const own = known.find(std::string{'-', word[i]});
        if (own == nullptr && take_letter(word[i], !known.is_command_known())) {
            continue;
        }
        if (own == nullptr || own->takes_value) {
            // The rest is the value, or unknown.
            has_value = own != nullptr && i + 1 == word.size();
            left += word.substr(i);
            break;
        }
        left += word[i];
    }
    word = std::move(left);
    return word.size() > 1;
}

void global_options::take_leading(std::vector<std::string>& words) {
    const known_options none;
    std::vector<std::string> kept;
    std::size_t at = 0;
    while (at < words.size() && is_option(words[at])) {
        std::string& word = words[at];
        if (is_leading(word)) {
            may_page_ = may_page_ && !leaves_user(word);
            const std::size_t size = word == name_of(word) && at + 1 < words.size() ? 2 : 1;
            std::move(words.begin() + static_cast<std::ptrdiff_t>(at),
                      words.begin() + static_cast<std::ptrdiff_t>(at + size),
                      std::back_inserter(kept));
            at += size;
        } else if (word == "--json") {
            json_ = true;
            ++at;
        } else if (word.starts_with("--")) {
            const std::size_t size = take_long(words, at);
            if (size == 0) {
                break;
            }
            at += size;
        } else {
            bool has_value = false;
            if (take_short(word, none, has_value)) {
                break;
            }
            ++at;
        }
    }
    std::move(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(),
              std::back_inserter(kept));
    words = std::move(kept);
}

void global_options::take(std::vector<std::string>& words,
                          const std::vector<subcommand_description>& commands) {
    const known_options known(words, commands);
    std::vector<std::string> kept;
    for (std::size_t at = 0; at < words.size(); ++at) {
        std::string& word = words[at];
        bool has_value = false;
        if (!is_option(word)) {
            kept.push_back(std::move(word));
            continue;
        }
        if (!word.starts_with("--")) {
            if (take_short(word, known, has_value)) {
                kept.push_back(std::move(word));
            }
        } else if (const option_description* const own = known.find(name_of(word))) {
            has_value = own->takes_value && name_of(word).size() == word.size();
            kept.push_back(std::move(word));
        } else if (const std::size_t size = take_long(words, at)) {
            at += size - 1;
        } else {
            kept.push_back(std::move(word));
        }
        if (has_value && at + 1 < words.size()) {
            kept.push_back(std::move(words[++at]));
        }
    }
    if (json_) {
        kept.emplace_back("--json");
    }
    words = std::move(kept);
}

void global_options::apply() const {
    set_quiet(quiet_);
    set_color_choice(color_);
    verbose_requested = verbose_;
    if (!may_page_) {
        disable_pager();
    }
}

std::vector<option_description> global_options::describe() {
    std::vector<option_description> all(4);
    all[0].names = {"-q", "--quiet"};
    all[0].description = "Print errors and losses, no summaries and hints";
    all[1].names = {"-v", "--verbose"};
    all[1].description = "Print which route is used, and why";
    all[2].names = {"--color"};
    all[2].description = "Whether text has colors";
    all[2].takes_value = true;
    for (const auto& [name, choice] : color_choices) {
        all[2].choices.emplace_back(name);
    }
    all[3].names = {"--no-pager"};
    all[3].description = "Do not start a pager";
    return all;
}

bool is_verbose() noexcept {
    return verbose_requested;
}

}  // namespace elog
