// SPDX-License-Identifier: MIT
//
// elog print: an .elog file as text.
#include <unistd.h>

#include <memory>
#include <optional>

#include "commands.hpp"
#include "file_damage.hpp"
#include "file_reader.hpp"
#include "text_writer.hpp"
#include "where.hpp"

namespace elog {
namespace {

struct print_arguments {
    std::string path;
    std::optional<std::string> where;
};

void run_print(const print_arguments& arguments) {
    file_reader file(arguments.path);
    const std::unique_ptr<record_filter> filter = make_filter(arguments.where, beginning_of(file));
    add_providers(filter.get(), nullptr, file.providers());
    text_writer writer(STDOUT_FILENO);
    const auto write = [&](const merged_record& record) {
        if (filter == nullptr || filter->matches(record.record, file.clock())) {
            writer.write(record, file.providers(), file.clock(), file.shared_ring());
        } else if (record.lost_before != 0) {
            // Nobody knows what was lost.
            const auto ring = static_cast<std::uint32_t>(loss_scope::ring);
            writer.write_loss({ring, record.ring, record.lost_before, 0, 0, 0}, file.providers(),
                              file.shared_ring());
        }
    };
    file.read(write);
    for (const loss_block& loss : file.losses()) {
        writer.write_loss(loss, file.providers(), file.shared_ring());
    }
    writer.flush();
    complain_about_damage(file, arguments.path);
}

}  // namespace

void add_print(CLI::App& application) {
    CLI::App* command = application.add_subcommand("print", "Print a recording as text");
    const auto arguments = std::make_shared<print_arguments>();
    command->add_option("FILE", arguments->path, "Recording made by elog record -o")->required();
    command->add_option("--where", arguments->where, where_help);
    command->footer("Examples:\n"
                    "  elog print run.elog | grep order=17\n"
                    "  elog print run.elog --where 'items > 2 && customer ~ \"a*\"'");
    command->callback([arguments] { run_print(*arguments); });
}

}  // namespace elog
