// SPDX-License-Identifier: MIT
//
// elog print: an .elog file as text.
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>

#include "commands.hpp"
#include "file_damage.hpp"
#include "file_reader.hpp"
#include "stop_signal.hpp"
#include "tell.hpp"
#include "text_writer.hpp"
#include "time_points.hpp"
#include "where.hpp"

namespace elog {
namespace {

struct print_arguments {
    std::string path;
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> where;
    bool follow = false;
};

time_range range_of(const print_arguments& arguments) {
    time_range range;
    if (!arguments.from && !arguments.to) {
        return range;
    }
    const std::int64_t start = recording_start(arguments.path);
    if (arguments.from) {
        range.from = parse_time_point(*arguments.from, start);
    }
    if (arguments.to) {
        range.to = parse_time_point(*arguments.to, start);
    }
    return range;
}

/// Writes the records of a file that --where wants, and every loss.
class wanted_records {
  public:
    wanted_records(const print_arguments& arguments, const file_reader& file)
        : file_(file), filter_(make_file_filter(arguments.where, arguments.path)) {
        // Whoever comes while the file is followed may know the names.
        add_providers(filter_.get(), nullptr, file.providers(), !arguments.follow);
        for (const auto& [id, provider] : file.providers()) {
            told_.insert(id);
        }
    }

    void write(const merged_record& record) {
        if (is_wanted(record.record)) {
            writer_.write(record, file_.providers(), file_.clock(), file_.shared_ring());
        } else if (record.lost_before != 0) {
            // Nobody knows what was lost.
            const auto ring = static_cast<std::uint32_t>(loss_scope::ring);
            write_loss({ring, record.ring, record.lost_before, 0, 0, 0});
        }
    }

    void write_loss(const loss_block& loss) {
        writer_.write_loss(loss, file_.providers(), file_.shared_ring());
    }

    void flush() { writer_.flush(); }

    /// Behind all records.
    void finish() {
        writer_.write_skipped();
        writer_.flush();
    }

    [[nodiscard]] const record_filter* filter() const noexcept { return filter_.get(); }

  private:
    /// What nobody can compare, because it is not understood, is for the writer to count.
    [[nodiscard]] bool is_wanted(const record_view& record) {
        if (filter_ == nullptr || !is_understood(record.header)) {
            return true;
        }
        if (told_.insert(record.header.provider).second) {
            tell_filter(record.header.provider);
        }
        return filter_->matches(record, file_.clock());
    }

    /// About a provider that came while the file was followed.
    void tell_filter(std::uint16_t id) {
        const auto found = file_.providers().find(id);
        if (found == file_.providers().end()) {
            return;
        }
        try {
            filter_->add(found->second);
        } catch (const failure& error) {
            tell("elog: {} The other events are not affected.", error.what());
        }
    }

    const file_reader& file_;
    std::unique_ptr<record_filter> filter_;  // nullptr: all are wanted
    std::unordered_set<std::uint16_t> told_;
    text_writer writer_{STDOUT_FILENO};
};

void run_print(const print_arguments& arguments) {
    const time_range range = range_of(arguments);
    file_reader file(arguments.path, range);
    wanted_records output(arguments, file);
    const auto write = [&](const merged_record& record) { output.write(record); };
    if (arguments.follow) {
        catch_stop_signals();
        file.follow(
            write, [&] { output.flush(); }, [] { return stop_requested().count != 0; });
    } else {
        file.read(write);
    }
    // What no record follows was lost at the end.
    if (range.to == INT64_MAX) {
        for (const loss_block& loss : file.losses()) {
            output.write_loss(loss);
        }
    }
    output.finish();
    complain_about_damage(file, arguments.path);
    check_names(output.filter(), nullptr);
}

}  // namespace

void add_print(CLI::App& application) {
    CLI::App* command = application.add_subcommand("print", "Print a recording as text");
    const auto arguments = std::make_shared<print_arguments>();
    command->add_option("FILE", arguments->path, "Recording made by elog record -o")->required();
    CLI::Option* from =
        command->add_option("--from", arguments->from,
                            "Only events at that time or later: 14:03:07.5, "
                            "2026-11-21T14:03:07, @SECONDS since 1970, +10s from the beginning");
    CLI::Option* to = command->add_option("--to", arguments->to, "Only events before that time");
    command->add_option("--where", arguments->where, where_help);
    command->add_flag("--follow", arguments->follow, "Go on as long as the file is being written")
        ->excludes(from)
        ->excludes(to);
    command->footer("Examples:\n"
                    "  elog print run.elog | grep order=17\n"
                    "  elog print run.elog --where 'items > 2 && customer ~ \"a*\"'\n"
                    "  elog print run.elog --from 14:03:00 --to 14:04:30\n"
                    "  elog print run.elog --follow");
    command->callback([arguments] { run_print(*arguments); });
}

}  // namespace elog
