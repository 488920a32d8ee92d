// SPDX-License-Identifier: MIT
//
// Replaces libFuzzer for compilers without it: runs a fuzzer's function on each file of the given
// folders, and on copies with changed or removed bytes.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz_target.hpp"

namespace {

void run(const std::vector<std::uint8_t>& bytes) {
    static_cast<void>(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()));
}

void run_with_changes(const std::vector<std::uint8_t>& bytes) {
    run(bytes);
    for (std::size_t i = 0; i < bytes.size(); i += 1 + bytes.size() / 256) {
        std::vector<std::uint8_t> changed = bytes;
        changed[i] = static_cast<std::uint8_t>(changed[i] ^ 1U << i % 8);
        run(changed);
        changed.resize(i);
        run(changed);
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    int files = 0;
    for (int i = 1; i < argument_count; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
            run_with_changes({content.begin(), content.end()});
            ++files;
        }
    }
    std::printf("%d files\n", files);
    return files == 0 ? 1 : 0;
}
