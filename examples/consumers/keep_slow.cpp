// SPDX-License-Identifier: MIT
//
// Merges recordings with libelog into one that has the events over 10 ms and all losses:
//
//     ./keep_slow slow.elog monday.elog tuesday.elog
//     elog print slow.elog
#include <iostream>
#include <utility>
#include <vector>

#include <elog/elog.hpp>

int main(int argument_count, char** arguments) try {
    elog::sink output = elog::write_file(arguments[1]);
    const auto put_loss = [&](const elog::loss& missing) { output.put(missing); };
    std::vector<elog::source> files;
    for (int i = 2; i < argument_count; ++i) {
        files.push_back(
            elog::open(arguments[i], {.where = "duration > 10ms", .on_loss = put_loss}));
    }
    elog::source all = elog::merge(std::move(files));
    std::cout << elog::pour(all, output) << " events\n";
    output.finish();
} catch (const elog::error& mistake) {
    std::cerr << mistake.what() << '\n';
    return 1;
}
