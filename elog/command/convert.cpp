// SPDX-License-Identifier: MIT
//
// elog convert: writes a recording as JSON Lines or CSV.
#include <functional>
#include <memory>
#include <string>

#include "base/atomic_file.hpp"
#include "cli/output_file.hpp"
#include "commands.hpp"
#include "live/filtered_records.hpp"
#include "output/csv_writer.hpp"
#include "output/json_lines_writer.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

struct convert_arguments {
    record_selection choice;
    std::string format;
    bool keeps_formulas = false;
    output_arguments output;
};

/// Adds the columns of the events to a table in a first pass, because its first row names them.
class column_chooser final : public record_writer {
  public:
    explicit column_chooser(csv_writer& table) : table_(table) {}

    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& /*clock*/, std::uint32_t /*shared_ring*/) override {
        const record_view& decoded = record.record;
        const auto found = providers.find(decoded.provider);
        if (is_supported(decoded) && found != providers.end() &&
            decoded.event < found->second.schema.events.size()) {
            table_.add_columns(found->second, decoded.event);
        }
    }
    void write_gap(const merged_record& /*record*/, std::uint32_t /*shared_ring*/) override {}
    void write_loss(const loss_report& /*loss*/, const provider_map& /*providers*/,
                    std::uint32_t /*shared_ring*/) override {}
    void flush() override {}
    void finish() override {}

  private:
    csv_writer& table_;
};

/// Passes the selected records to the writer, then calls `done`. Reports damage only after that:
/// everything readable has been converted.
void convert(const record_selection& choice, record_writer& writer, concurrent_output progress,
             const std::function<void()>& done) {
    selected_records records(choice, writer);
    records.read(progress);
    done();
    records.complain();
}

/// The columns of the table are those of the events that a first pass finds.
void choose_columns(const record_selection& choice, csv_writer& table, concurrent_output progress) {
    column_chooser columns(table);
    selected_records(choice, columns).read(progress);
}

/// Between the two passes, programs may have written the first event of a kind.
void report_late_events(const csv_writer& table) {
    if (table.without_columns() != 0) {
        print_diagnostic(
            "elog: {} events were recorded while elog read the file, and the table has no columns "
            "for their fields. Convert it again after the recording has ended.",
            table.without_columns());
    }
}

void run_convert(const convert_arguments& arguments) {
    const display_clock clock = parse_clock(arguments.choice.times);
    if (arguments.format != "jsonl" && arguments.format != "csv") {
        throw usage_error("'{}' is no format that elog writes. Use jsonl or csv.",
                          arguments.format);
    }
    if (arguments.keeps_formulas && arguments.format != "csv") {
        throw usage_error("--no-csv-safe is for --to csv.");
    }
    check_not_same_file(arguments.choice.path, arguments.output.path);
    text_output output(arguments.output);
    record_selection choice = arguments.choice;
    choice.open();
    const concurrent_output progress =
        output.is_standard_output() ? concurrent_output::records : concurrent_output::nothing;
    if (arguments.format == "csv") {
        csv_writer table(output.descriptor(), clock,
                         arguments.keeps_formulas ? formula_texts::as_they_are
                                                  : formula_texts::quoted);
        choose_columns(choice, table, progress);
        convert(choice, table, progress, [&] {
            output.finish();
            report_late_events(table);
        });
    } else {
        json_lines_writer lines(output.descriptor(), clock);
        convert(choice, lines, progress, [&] { output.finish(); });
    }
}

}  // namespace

void add_convert(command_line& line) {
    subcommand command = line.add_subcommand("convert", "Convert a recording to JSON Lines or CSV");
    const auto arguments = std::make_shared<convert_arguments>();
    add_selection_options(command, arguments->choice);
    command.add_option("--to FORMAT", arguments->format, "Format: jsonl, csv")
        .required()
        .one_of({"jsonl", "csv"});
    command.add_flag("--no-csv-safe", arguments->keeps_formulas,
                     "With --to csv, no apostrophe before texts that start with = + - or @");
    add_output_options(command, arguments->output, "Write to this file, not to standard output");
    add_mode_option(command, arguments->output.mode);
    command.footer("Examples:\n"
                   "  elog convert --to jsonl run.elog | jq .fields.customer\n"
                   "  elog convert --to csv run.elog --where 'event == \"order_placed\"' -o o.csv");
    command.action([arguments] { run_convert(*arguments); });
}

}  // namespace elog
