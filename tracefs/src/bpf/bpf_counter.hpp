// SPDX-License-Identifier: MIT
//
// A BPF program that counts a trace event, and its tables. Both are removed with the object, also
// if the process is killed.
#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "platform/unique_fd.hpp"

namespace eventlog::tracefs {

/// File descriptors of the maps that the program uses.
struct bpf_maps {
    int table = -1;   // a hash of keys, with a value of 64-bit words for each CPU
    int zeros = -1;   // an array: the initial value of a key
    int losses = -1;  // an array: one bpf_losses
};

struct bpf_losses {
    std::uint64_t table_full = 0;  // events without room for their key
    std::uint64_t refused = 0;     // events whose key the kernel refused for another reason
};

struct bpf_request {
    std::uint32_t key_size = 8;  // bytes
    std::uint32_t words = 1;     // of a value
    std::uint32_t keys_max = 1;
    std::function<std::vector<bpf_insn>(const bpf_maps&)> program{};
};

inline constexpr std::uint32_t bpf_words_max = 4096;  // the kernel's limit for a value in bytes

struct bpf_entry {
    std::vector<std::uint8_t> key{};
    std::vector<std::uint64_t> words{};  // the values of all CPUs in sequence
};

struct bpf_table {
    std::vector<bpf_entry> entries{};
    bpf_losses losses{};
    std::uint64_t missed = 0;  // events for which the kernel could not run the program
};

class bpf_counter {
  public:
    /// Runs the program for each event with that number, on all CPUs, from here on. Throws error
    /// with the reason, as a sentence without its end.
    bpf_counter(std::uint16_t event, const bpf_request& asked);

    /// Stops the program; a run in progress may end until wait_for_writers() returns.
    void stop() noexcept { attached_ = core::unique_fd(); }
    /// After stop() and wait_for_writers(). Throws error.
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
    core::unique_fd attached_;  // a perf event that is never enabled
};

enum class bpf_support { yes, too_old, not_permitted, none, unclear };

/// Whether this process may create one: loads a program and removes it. If unclear, errno has the
/// reason.
[[nodiscard]] bpf_support find_bpf_support();

/// Number of CPUs for which the kernel keeps a value; at least 1.
[[nodiscard]] std::uint32_t bpf_cpus() noexcept;

}  // namespace eventlog::tracefs
