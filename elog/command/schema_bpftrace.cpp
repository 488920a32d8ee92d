// SPDX-License-Identifier: MIT
//
// elog schema bpftrace: generates a script that prints events with bpftrace.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/output_file.hpp"
#include "codegen/generate_bpftrace.hpp"
#include "commands.hpp"
#include "discovery/schema_sources.hpp"

namespace elog {
namespace {

struct bpftrace_options {
    std::string source;
    std::string program;
    output_arguments output;
};

/// bpftrace ends a path at a colon, a blank or a bracket.
void check_program(const std::string& program) {
    const bool fits = std::all_of(program.begin(), program.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '.' || c == '_' || c == '-' || c == '+';
    });
    if (!fits) {
        throw usage_error(
            "bpftrace cannot name the program '{}': use a path of letters, digits and "
            "/._-+.",
            program);
    }
}

void run_bpftrace(const bpftrace_options& options) {
    check_program(options.program);
    const std::vector<provider_schema> schemas = find_schemas(options.source);
    if (schemas.size() != 1) {
        throw user_error(
            "There are {} schemas in {}, and a script is for one. Name the provider, or "
            "end all programs except those of one version.",
            schemas.size(), options.source);
    }
    write_text_output(options.output, generate_bpftrace(schemas.front(), options.program));
}

}  // namespace

void add_schema_bpftrace(command_group& schema) {
    subcommand command =
        schema.add_subcommand("bpftrace", "Generate a bpftrace script that prints the events");
    const auto options = std::make_shared<bpftrace_options>();
    command
        .add_option("SOURCE", options->source,
                    "Provider, schema, recording, program or library; - is standard input")
        .required()
        .completes_as(value_kind::source);
    command
        .add_option("--usdt PROGRAM", options->program,
                    "Use the USDT probes of that program instead of trace events")
        .completes_as(value_kind::file);
    add_output_options(command, options->output, "Write to this file, not to standard output");
    command.footer("Without --usdt, the events are those of eventlog's kernel module.\n"
                   "Examples:\n"
                   "  elog schema bpftrace shop -o shop.bt\n"
                   "  elog schema bpftrace shop.schema --usdt ./order_service -o shop.bt");
    command.action([options] { run_bpftrace(*options); });
}

}  // namespace elog
