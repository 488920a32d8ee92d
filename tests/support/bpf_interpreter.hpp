// SPDX-License-Identifier: MIT
//
// Runs BPF programs of elog without a kernel: the instructions of bpf_program.hpp and the helpers
// that bpf_code_generator.cpp calls. The test fails if a program accesses memory that is not its
// own, or a record at an unaligned address.
#pragma once

#include <linux/bpf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "bpf/bpf_counter.hpp"

namespace eventlog::test {

class bpf_interpreter {
  public:
    static constexpr tracefs::bpf_maps maps{100, 101, 102};

    bpf_interpreter(std::vector<bpf_insn> program, std::uint32_t key_size, std::uint32_t words,
                    std::uint32_t keys_max, std::uint32_t cpus);

    struct event {
        std::span<const std::uint8_t> record{};  // the bytes in tracefs format
        std::uint32_t thread = 0;
        std::uint32_t cpu = 0;
    };
    /// Returns the program's result.
    std::uint64_t run(const event& what);

    /// From now on inserting a key fails with this negative errno.
    void fail_key_inserts(std::int64_t answer) noexcept { insert_error_ = answer; }

    [[nodiscard]] tracefs::bpf_table table() const;

  private:
    [[nodiscard]] std::uint64_t& at(unsigned index) { return registers_.at(index); }
    void check(std::uint64_t address, std::size_t size, bool is_written) const;
    [[nodiscard]] std::uint64_t load(std::uint64_t address, std::size_t size) const;
    void store(std::uint64_t address, std::size_t size, std::uint64_t value) const;
    void compute(const bpf_insn& what);
    [[nodiscard]] bool decides(const bpf_insn& what);
    void call(std::int32_t helper);
    [[nodiscard]] std::uint64_t find();
    [[nodiscard]] std::int64_t add();
    [[nodiscard]] std::int64_t copy_text();
    [[nodiscard]] std::vector<std::uint8_t> key() const;

    std::vector<bpf_insn> program_;
    std::uint32_t key_size_;
    std::uint32_t words_;
    std::uint32_t keys_max_;
    std::uint32_t cpus_;
    std::map<std::vector<std::uint8_t>, std::vector<std::uint64_t>> table_;
    std::vector<std::uint64_t> zeros_;
    tracefs::bpf_losses losses_{};
    std::int64_t insert_error_ = 0;
    std::array<std::uint64_t, 11> registers_{};
    std::array<std::uint8_t, 512> stack_{};
    event event_{};
};

}  // namespace eventlog::test
