// SPDX-License-Identifier: MIT
//
// elog convert: writes a recording as JSON Lines or CSV.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "cli/clock_option.hpp"
#include "commands.hpp"
#include "live/filtered_records.hpp"
#include "output/csv_writer.hpp"
#include "output/json_lines_writer.hpp"

namespace elog {
namespace {

struct convert_arguments {
    record_selection choice;
    std::string format;
    std::optional<std::string> clock;
};

/// Adds the columns of the events to a table in a first pass, because its first row names them.
class column_chooser final : public record_writer {
  public:
    explicit column_chooser(csv_writer& table) : table_(table) {}

    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& /*clock*/, std::uint32_t /*shared_ring*/) override {
        const eventlog_record& header = record.record.header;
        const auto found = providers.find(header.provider);
        if (is_supported(header) && found != providers.end() &&
            header.event < found->second.schema.events.size()) {
            table_.add_columns(found->second, header.event);
        }
    }
    void write_gap(const merged_record& /*record*/, std::uint32_t /*shared_ring*/) override {}
    void write_loss(const loss_block& /*loss*/, const provider_map& /*providers*/,
                    std::uint32_t /*shared_ring*/) override {}
    void flush() override {}
    void finish() override {}

  private:
    csv_writer& table_;
};

/// `complain`: report damage. A file may be read twice.
void convert(const record_selection& choice, record_writer& writer, bool complain) {
    selected_records records(choice, writer);
    records.read(concurrent_output::records);
    if (complain) {
        records.complain();
    }
}

void run_convert(const convert_arguments& arguments) {
    const display_clock clock = parse_clock(arguments.clock);
    record_selection choice = arguments.choice;
    choice.open();
    if (arguments.format == "jsonl") {
        json_lines_writer lines(STDOUT_FILENO, clock);
        convert(choice, lines, true);
    } else if (arguments.format == "csv") {
        csv_writer table(STDOUT_FILENO, clock);
        column_chooser columns(table);
        convert(choice, columns, false);
        convert(choice, table, true);
    } else {
        throw usage_error("'{}' is no format that elog writes. Use jsonl or csv.",
                          arguments.format);
    }
}

}  // namespace

void add_convert(command_line& line) {
    subcommand command = line.add_subcommand("convert", "Convert a recording to JSON Lines or CSV");
    const auto arguments = std::make_shared<convert_arguments>();
    add_selection_options(command, arguments->choice, "--until WHEN");
    command.add_option("--to FORMAT", arguments->format, "Format on standard output: jsonl, csv")
        .required()
        .one_of({"jsonl", "csv"});
    add_clock_option(command, arguments->clock);
    command.footer("Examples:\n"
                   "  elog convert --to jsonl run.elog | jq .fields.customer\n"
                   "  elog convert --to csv run.elog --where 'event == \"order_placed\"' > o.csv");
    command.action([arguments] { run_convert(*arguments); });
}

}  // namespace elog
