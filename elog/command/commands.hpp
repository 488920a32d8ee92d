// SPDX-License-Identifier: MIT
//
// The subcommands of elog. Each adds itself to the command line; what it then does, it does when
// the command line has been read. They throw failure (exit status 1) or usage_failure (2).
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "failure.hpp"

namespace elog {

/// The command line asks for something that cannot be.
class usage_failure : public failure {
  public:
    using failure::failure;
};

void add_agg(CLI::App& application);
void add_gen(CLI::App& application);
void add_list(CLI::App& application);
void add_print(CLI::App& application);
void add_repair(CLI::App& application);
void add_schema(CLI::App& application);
void add_stat(CLI::App& application);
void add_verify(CLI::App& application);
/// `command` is what stands behind "--", to be run while recording.
void add_record(CLI::App& application, const std::vector<std::string>& command);

}  // namespace elog
