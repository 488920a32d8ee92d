// SPDX-License-Identifier: MIT
//
// elog cut: copies a part of a recording to a new one.
#include <memory>
#include <optional>

#include "base/atomic_file.hpp"
#include "commands.hpp"
#include "file/file_reader.hpp"
#include "file/record_copier.hpp"
#include "live/copying.hpp"
#include "live/filtered_records.hpp"

namespace elog {
namespace {

struct cut_arguments {
    record_selection choice;
    copy_arguments copy;
};

class cut_writer final : public record_writer {
  public:
    /// `has_beginning`: the part includes the beginning of the recording.
    explicit cut_writer(bool has_beginning) : has_beginning_(has_beginning) {}

    /// Creates the file. Precedes all writes.
    void begin(const copy_options& to, const file_reader& file) {
        copier_.emplace(to, file.host(), file.required_clock_readings());
        copier_->write_offsets(file.clock().offsets());
    }

    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& /*clock*/, std::uint32_t /*shared_ring*/) override {
        copier_->write(record, 0, providers);
    }
    void write_gap(const merged_record& record, std::uint32_t /*shared_ring*/) override {
        copier_->write_gap(record);
    }
    void write_loss(const loss_report& loss, const provider_map& providers,
                    std::uint32_t /*shared_ring*/) override {
        loss_report known = loss;
        if (!has_beginning_ && loss.scope == loss_scope::provider) {
            known.full = 0;  // how many of these the rings of this part have reported is unknown
        }
        copier_->write_loss(known, 0, providers);
    }
    void write_mark(const recording_mark& mark, const clock_converter& /*clock*/) override {
        copier_->write_mark(mark);
    }
    void flush() override {}
    void finish() override { summary_ = copier_->finish(); }
    /// Closes the file, which is complete.
    void close() { copier_.reset(); }

    [[nodiscard]] const copy_summary& summary() const noexcept { return summary_; }

  private:
    std::optional<record_copier> copier_;
    copy_summary summary_;
    bool has_beginning_;
};

void run_cut(const cut_arguments& arguments) {
    const record_selection& choice = arguments.choice;
    check_description(arguments.copy.output, arguments.copy.json);
    check_not_same_file(choice.path, arguments.copy.output.path);
    output_file output(arguments.copy.output);
    cut_writer writer(!choice.times.since && !choice.tail);
    selected_records records(choice, writer);
    writer.begin(arguments.copy.options(output), records.file());
    records.read();
    writer.close();
    output.finish();
    print_copy_summary(writer.summary(), arguments.copy, records.file().damages());
    records.complain("copied");
}

}  // namespace

void add_cut(command_line& line) {
    subcommand command = line.add_subcommand("cut", "Copy a part of a recording");
    const auto arguments = std::make_shared<cut_arguments>();
    add_selection_options(command, arguments->choice);
    add_copy_options(command, arguments->copy);
    command.footer("Examples:\n"
                   "  elog cut run.elog --since 14:03:00 --until 14:04:30 -o minute.elog\n"
                   "  elog cut run.elog --where 'level <= warn' -o - | ssh host elog stat -");
    command.action([arguments] { run_cut(*arguments); });
}

}  // namespace elog
