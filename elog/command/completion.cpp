// SPDX-License-Identifier: MIT
//
// elog completion: candidates for a command line, for shells.
//
// A line for each candidate, "WORD<tab>DESCRIPTION", and ":files" or ":commands" if the shell has
// to add those. The scripts in elog/completions run it.
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/output.hpp"
#include "cli/global_options.hpp"
#include "commands.hpp"
#include "completion/completion_values.hpp"
#include "completion/completion_words.hpp"
#include "one_liner_option.hpp"
#include "target/container_target.hpp"
#include "target/other_user.hpp"

namespace elog {
namespace {

/// A name may come from a hostile program, and the shell splits the output at newlines and tabs.
bool is_printable(const std::string& word) {
    for (const char each : word) {
        if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) {
            return false;
        }
    }
    return !word.empty() && word.front() != ':';
}

std::string first_line_of(const std::string& description) {
    std::string line = description.substr(0, description.find('\n'));
    for (char& each : line) {
        if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) {
            each = ' ';
        }
    }
    return line;
}

/// The commands with the options of all commands.
std::vector<subcommand_description> describe_all(const command_line& line) {
    std::vector<subcommand_description> commands = line.describe();
    const std::vector<option_description> global = global_options::describe();
    for (subcommand_description& command : commands) {
        command.options.insert(command.options.end(), global.begin(), global.end());
    }
    return commands;
}

/// Removes options of all commands in front of the command, except the word that is completed.
void remove_leading_options(std::vector<std::string>& words) {
    std::string last = std::move(words.back());
    words.pop_back();
    try {
        global_options().take_leading(words);
    } catch (const usage_error&) {  // the command line is not complete
    }
    words.push_back(std::move(last));
}

void print_candidates(const command_line& line, const std::vector<std::string>& words) {
    const completion found = complete(describe_all(line), words, find_values);
    std::string text;
    for (const candidate& each : found.candidates) {
        if (is_printable(each.word)) {
            text += each.word + '\t' + first_line_of(each.description) + '\n';
        }
    }
    switch (found.rest) {
        case shell_completion::nothing:
            break;
        case shell_completion::files:
            text += ":files\n";
            break;
        case shell_completion::commands:
            text += ":commands\n";
            break;
    }
    write_all(STDOUT_FILENO, text);
}

}  // namespace

void add_completion(command_line& line, const std::vector<std::string>& words) {
    subcommand command = line.add_subcommand("completion", "Complete command lines for a shell");
    command.footer("The scripts that bash, zsh and fish need for it are installed with elog.\n"
                   "Example:\n  elog completion -- record --event ''");
    command.action([&line, words] {
        if (words.empty()) {
            throw usage_error("The words to complete are missing after '--'. Load the script that "
                              "is installed with elog in your shell, which adds them.");
        }
        // Values after --user or --at are those of that user or process.
        std::vector<std::string> rest = words;
        remove_leading_options(rest);
        if (rest.size() > 2 || (rest.front() != "--user" && rest.front() != "--at")) {
            enter_named_process(rest, false);
            become_named_user(rest);
        }
        if (rest.size() > 2) {
            expand_one_liner(rest);
        }
        print_candidates(line, rest);
    });
}

}  // namespace elog
