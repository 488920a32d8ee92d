// SPDX-License-Identifier: MIT
//
// Options of all commands, before or after the command's name: --quiet, --verbose, --color,
// --no-pager, and --json in front of the name.
//
// They are taken out of the words before the command line is parsed. A word that is the value of
// another option is never taken.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "terminal/terminal.hpp"

namespace elog {

class global_options {
  public:
    /// Removes the options in front of the command's name, also between --user, --at and -n, which
    /// stay. Throws usage_error for a missing or unknown value.
    void take_leading(std::vector<std::string>& words);

    /// Removes the options behind the command's name, which is the first word, and appends --json
    /// if it was in front. Throws usage_error for a missing or unknown value.
    void take(std::vector<std::string>& words, const std::vector<subcommand_description>& commands);

    /// Makes the options effective. Call before there are threads.
    void apply() const;

    /// The options, for completion.
    [[nodiscard]] static std::vector<option_description> describe();

    [[nodiscard]] bool quiet() const noexcept { return quiet_; }
    [[nodiscard]] bool verbose() const noexcept { return verbose_; }
    [[nodiscard]] color_choice color() const noexcept { return color_; }
    [[nodiscard]] bool may_page() const noexcept { return may_page_; }

  private:
    class known_options;

    bool take_letter(char letter, bool is_leading) noexcept;
    std::size_t take_long(const std::vector<std::string>& words, std::size_t at);
    bool take_short(std::string& word, const known_options& known, bool& has_value);

    bool quiet_ = false;
    bool verbose_ = false;
    bool may_page_ = true;
    bool json_ = false;
    color_choice color_ = color_choice::automatic;
};

/// Whether --verbose was applied.
[[nodiscard]] bool is_verbose() noexcept;

}  // namespace elog
