// SPDX-License-Identifier: MIT
//
// A BPF program of the kernel's that counts a trace event, and the tables that it counts in. It is
// gone with whoever has made it.
#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "platform/unique_fd.hpp"

namespace eventlog::tracefs {

/// What the program is given, by their files.
struct bpf_maps {
    int table = -1;   // a hash of keys, with a value of 64-bit words for each CPU
    int zeros = -1;   // an array: a value with which a key begins
    int losses = -1;  // an array: one of bpf_losses
};

struct bpf_losses {
    std::uint64_t table_full = 0;  // events whose key found none
    std::uint64_t refused = 0;     // whose key the kernel would not take for another reason
};

struct bpf_request {
    std::uint32_t key_size = 8;  // bytes
    std::uint32_t words = 1;     // of a value
    std::uint32_t keys_max = 1;
    std::function<std::vector<bpf_insn>(const bpf_maps&)> program{};
};

inline constexpr std::uint32_t bpf_words_max =
    4096;  // a value of more bytes no CPU has a place for

struct bpf_entry {
    std::vector<std::uint8_t> key{};
    std::vector<std::uint64_t> words{};  // those of all CPUs, one value behind the other
};

struct bpf_table {
    std::vector<bpf_entry> entries{};
    bpf_losses losses{};
    std::uint64_t missed = 0;  // events for which the kernel could not run the program
};

class bpf_counter {
  public:
    /// From here on the program runs for each event of that number, on all CPUs. Throws error, with
    /// why not, as a sentence without its end.
    bpf_counter(std::uint16_t event, const bpf_request& asked);

    /// It does not run any more, but for what is just happening: see settle().
    void stop() noexcept { attached_ = core::unique_fd(); }
    /// After stop() and settle(). Throws error.
    [[nodiscard]] bpf_table read() const;

  private:
    void make_maps();
    void load_program(const bpf_request& asked);
    void attach(std::uint16_t event);
    [[nodiscard]] std::uint64_t missed() const;

    std::uint32_t key_size_;
    std::uint32_t words_;
    std::uint32_t keys_max_;
    std::uint32_t cpus_;
    core::unique_fd table_;
    core::unique_fd zeros_;
    core::unique_fd losses_;
    core::unique_fd program_;
    core::unique_fd attached_;  // an event of perf's, which is never enabled
};

enum class bpf_support { yes, too_old, not_permitted, none, unclear };

/// Whether this process could make one: by loading a program that is gone at once. If that is
/// unclear, errno says why.
[[nodiscard]] bpf_support find_bpf_support();

/// For how many CPUs the kernel keeps a value; at least 1.
[[nodiscard]] std::uint32_t bpf_cpus() noexcept;

}  // namespace eventlog::tracefs
