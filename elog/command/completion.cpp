// SPDX-License-Identifier: MIT
//
// elog completion: prints the script that completes command lines of elog in a shell; and the
// hidden command that these scripts run.
//
// The hidden command prints a line for each candidate, "WORD<tab>DESCRIPTION", and ":files" or
// ":commands" if the shell has to add those.
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/output.hpp"
#include "cli/global_options.hpp"
#include "commands.hpp"
#include "completion/completion_scripts.hpp"
#include "completion/completion_values.hpp"
#include "completion/completion_words.hpp"
#include "scripts.hpp"
#include "target/container_target.hpp"
#include "target/other_user.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {

std::string visible(std::string_view text) {
    fmt::memory_buffer shown;
    append_visible(shown, text);
    return fmt::to_string(shown);
}

constexpr std::string_view files_line = ":files";
constexpr std::string_view commands_line = ":commands";

/// A name may come from a hostile program: a shell splits the output at newlines and tabs, and
/// shows words on the terminal. So what elog would escape is left out: control characters, those
/// that change the direction of a text, and bytes that are not UTF-8. The lines of this command
/// are left out for a script that splits a line before it compares it.
bool is_printable(const std::string& word) {
    return !word.empty() && word != files_line && word != commands_line && visible(word) == word;
}

std::string first_line_of(const std::string& description) {
    return visible(std::string_view(description).substr(0, description.find('\n')));
}

/// Adds the options of all commands to each command, also to groups of commands.
void add_options(std::vector<subcommand_description>& commands,
                 const std::vector<option_description>& global) {
    for (subcommand_description& command : commands) {
        command.options.insert(command.options.end(), global.begin(), global.end());
        add_options(command.subcommands, global);
    }
}

std::vector<subcommand_description> describe_all(const command_line& line) {
    std::vector<subcommand_description> commands = line.describe();
    add_options(commands, global_options::describe());
    return commands;
}

/// Removes options of all commands in front of the command.
void remove_leading_options(std::vector<std::string>& words) {
    try {
        global_options().take_leading(words);
    } catch (const usage_error&) {  // the command line is not complete
    }
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
            text.append(files_line) += '\n';
            break;
        case shell_completion::commands:
            text.append(commands_line) += '\n';
            break;
    }
    write_all(STDOUT_FILENO, text);
}

void print_script(const std::string& shell) {
    const std::pair<std::string_view, std::string_view> scripts[] = {
        {"bash", bash_completion},
        {"zsh", zsh_completion},
        {"fish", fish_completion},
    };
    for (const auto& [name, script] : scripts) {
        if (name == shell) {
            write_all(STDOUT_FILENO, script);
            return;
        }
    }
    throw usage_error("There is no completion for '{}'. Name one of bash, zsh and fish.", shell);
}

}  // namespace

void add_completion(command_line& line) {
    subcommand command =
        line.add_subcommand("completion", "Print the script for completion in bash, zsh or fish");
    const auto shell = std::make_shared<std::string>();
    command.add_option("SHELL", *shell, "bash, zsh or fish")
        .required()
        .one_of({"bash", "zsh", "fish"});
    command.footer("Packages install the scripts. Without a package:\n"
                   "Examples:\n"
                   "  elog completion bash > ~/.local/share/bash-completion/completions/elog\n"
                   "  elog completion fish > ~/.config/fish/completions/elog.fish");
    command.action([shell] { print_script(*shell); });
}

void add_completion_query(command_line& line, const std::vector<std::string>& words) {
    subcommand command = line.add_hidden("__complete");
    command.action([&line, words] {
        if (words.empty()) {
            throw usage_error("The words to complete are missing after '--'. Load the script of "
                              "elog completion in your shell, which adds them.");
        }
        std::vector<std::string> rest = words;
        const std::string typed = std::move(rest.back());
        rest.pop_back();
        remove_leading_options(rest);
        // Values after --user or --at are those of that user or process.
        if (rest.size() > 1 ||
            (!rest.empty() && rest.front() != "--user" && rest.front() != "--at")) {
            enter_named_process(rest, false);
            become_named_user(rest);
        }
        if (rest.size() > 1) {
            expand_script(rest);
        }
        rest.push_back(typed);
        print_candidates(line, rest);
    });
}

}  // namespace elog
