// SPDX-License-Identifier: MIT
#include "bpf_interpreter.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

namespace eventlog::test {
namespace {

std::uint64_t address_of(const void* memory) noexcept {
    return reinterpret_cast<std::uintptr_t>(memory);
}

void* memory_at(std::uint64_t address) noexcept {
    return reinterpret_cast<void*>(address);
}

std::size_t size_of(const bpf_insn& what) noexcept {
    switch (BPF_SIZE(what.code)) {
        case BPF_B:
            return 1;
        case BPF_H:
            return 2;
        case BPF_W:
            return 4;
        default:
            return 8;
    }
}

std::uint64_t extended(std::int32_t number) noexcept {
    return static_cast<std::uint64_t>(std::int64_t{number});
}

}  // namespace

bpf_interpreter::bpf_interpreter(std::vector<bpf_insn> program, std::uint32_t key_size,
                                 std::uint32_t words, std::uint32_t keys_max, std::uint32_t cpus)
    : program_(std::move(program)),
      key_size_(key_size),
      words_(words),
      keys_max_(keys_max),
      cpus_(cpus),
      zeros_(words) {}

void bpf_interpreter::check(std::uint64_t address, std::size_t size, bool is_written) const {
    const auto is_in = [&](const void* memory, std::size_t bytes) {
        const std::uint64_t begin = address_of(memory);
        return address >= begin && address - begin <= bytes && bytes - (address - begin) >= size;
    };
    bool is_known = is_in(stack_.data(), stack_.size()) || is_in(&losses_, sizeof losses_) ||
                    (!is_written && is_in(event_.record.data() + 8, event_.record.size() - 8) &&
                     (address - address_of(event_.record.data())) % size == 0);
    for (const auto& [key, value] : table_) {
        is_known = is_known ||
                   is_in(value.data() + std::size_t{event_.cpu} * words_, std::size_t{8} * words_);
    }
    ASSERT_TRUE(is_known) << (is_written ? "written " : "read ") << size;
}

std::uint64_t bpf_interpreter::load(std::uint64_t address, std::size_t size) const {
    check(address, size, false);
    std::uint64_t value = 0;
    std::memcpy(&value, memory_at(address), size);
    return value;
}

void bpf_interpreter::store(std::uint64_t address, std::size_t size, std::uint64_t value) const {
    check(address, size, true);
    std::memcpy(memory_at(address), &value, size);
}

std::vector<std::uint8_t> bpf_interpreter::key() const {
    check(registers_[2], key_size_, false);
    const auto* const begin = static_cast<const std::uint8_t*>(memory_at(registers_[2]));
    return {begin, begin + key_size_};
}

std::uint64_t bpf_interpreter::find() {
    const auto found = table_.find(key());
    return found == table_.end()
               ? 0
               : address_of(found->second.data() + std::size_t{event_.cpu} * words_);
}

std::int64_t bpf_interpreter::add() {
    EXPECT_EQ(registers_[3], address_of(zeros_.data()));
    if (insert_error_ != 0) {
        return insert_error_;
    }
    if (table_.size() == keys_max_) {
        return -E2BIG;
    }
    return table_.try_emplace(key(), std::size_t{words_} * cpus_).second ? 0 : -EEXIST;
}

std::int64_t bpf_interpreter::copy_text() {
    const std::uint64_t size = registers_[2];
    for (std::uint64_t i = 0; i < size; ++i) {
        const auto* const from = static_cast<const char*>(memory_at(registers_[3] + i));
        // The kernel's buffer continues after the record.
        const bool is_behind =
            address_of(from) >= address_of(event_.record.data() + event_.record.size());
        const auto byte = static_cast<std::uint8_t>(is_behind ? 'x' : *from);
        store(registers_[1] + i, 1, i + 1 == size ? 0 : byte);
        if (byte == 0) {
            return static_cast<std::int64_t>(i + 1);
        }
    }
    return static_cast<std::int64_t>(size);
}

void bpf_interpreter::call(std::int32_t helper) {
    switch (helper) {
        case BPF_FUNC_map_lookup_elem:
            at(0) = find();
            break;
        case BPF_FUNC_map_update_elem:
            at(0) = static_cast<std::uint64_t>(add());
            break;
        case BPF_FUNC_get_current_pid_tgid:
            at(0) = std::uint64_t{4242} << 32U | event_.thread;
            break;
        case BPF_FUNC_get_smp_processor_id:
            at(0) = event_.cpu;
            break;
        case BPF_FUNC_probe_read_kernel_str:
            at(0) = static_cast<std::uint64_t>(copy_text());
            break;
        default:
            FAIL() << helper;
    }
    std::fill(registers_.begin() + 1, registers_.begin() + 6, 0xdeadbeefU);
}

void bpf_interpreter::compute(const bpf_insn& what) {
    std::uint64_t& to = at(what.dst_reg);
    const std::uint64_t with = BPF_SRC(what.code) == BPF_X ? at(what.src_reg) : extended(what.imm);
    switch (BPF_OP(what.code)) {
        case BPF_ADD:
            to += with;
            break;
        case BPF_SUB:
            to -= with;
            break;
        case BPF_MUL:
            to *= with;
            break;
        case BPF_DIV:
            to = with == 0 ? 0 : to / with;
            break;
        case BPF_OR:
            to |= with;
            break;
        case BPF_AND:
            to &= with;
            break;
        case BPF_XOR:
            to ^= with;
            break;
        case BPF_LSH:
            to <<= with;
            break;
        case BPF_RSH:
            to >>= with;
            break;
        case BPF_ARSH:
            to = static_cast<std::uint64_t>(static_cast<std::int64_t>(to) >> with);
            break;
        case BPF_NEG:
            to = 0 - to;
            break;
        case BPF_MOV:
            to = with;
            break;
        default:
            FAIL() << int{what.code};
    }
}

bool bpf_interpreter::decides(const bpf_insn& what) {
    const std::uint64_t one = at(what.dst_reg);
    const std::uint64_t other = BPF_SRC(what.code) == BPF_X ? at(what.src_reg) : extended(what.imm);
    const auto left = static_cast<std::int64_t>(one);
    const auto right = static_cast<std::int64_t>(other);
    switch (BPF_OP(what.code)) {
        case BPF_JA:
            return true;
        case BPF_JEQ:
            return one == other;
        case BPF_JNE:
            return one != other;
        case BPF_JGT:
            return one > other;
        case BPF_JGE:
            return one >= other;
        case BPF_JLT:
            return one < other;
        case BPF_JLE:
            return one <= other;
        case BPF_JSGT:
            return left > right;
        case BPF_JSGE:
            return left >= right;
        case BPF_JSLT:
            return left < right;
        default:
            return left <= right;
    }
}

std::uint64_t bpf_interpreter::run(const event& what) {
    event_ = what;
    stack_.fill(0xa5);
    at(1) = address_of(what.record.data());
    at(10) = address_of(stack_.data() + stack_.size());
    for (std::size_t next = 0; next < program_.size(); ++next) {
        const bpf_insn& each = program_[next];
        const std::uint64_t offset = extended(each.off);
        switch (BPF_CLASS(each.code)) {
            case BPF_LD: {
                const auto low = static_cast<std::uint32_t>(each.imm);
                const auto high = static_cast<std::uint32_t>(program_.at(++next).imm);
                at(each.dst_reg) = std::uint64_t{high} << 32U | low;
                if (each.src_reg == BPF_PSEUDO_MAP_VALUE) {
                    at(each.dst_reg) =
                        each.imm == maps.zeros ? address_of(zeros_.data()) : address_of(&losses_);
                }
                break;
            }
            case BPF_LDX:
                at(each.dst_reg) = load(at(each.src_reg) + offset, size_of(each));
                break;
            case BPF_ST:
                store(at(each.dst_reg) + offset, size_of(each), extended(each.imm));
                break;
            case BPF_STX: {
                const std::uint64_t place = at(each.dst_reg) + offset;
                const std::uint64_t before =
                    BPF_MODE(each.code) == BPF_ATOMIC ? load(place, size_of(each)) : 0;
                store(place, size_of(each), before + at(each.src_reg));
                break;
            }
            case BPF_ALU64:
                compute(each);
                break;
            default:
                if (BPF_OP(each.code) == BPF_EXIT) {
                    return at(0);
                }
                if (BPF_OP(each.code) == BPF_CALL) {
                    call(each.imm);
                } else if (decides(each)) {
                    next += offset;
                }
        }
        if (::testing::Test::HasFatalFailure()) {
            return 0;
        }
    }
    ADD_FAILURE() << "the program has no end";
    return 0;
}

tracefs::bpf_table bpf_interpreter::table() const {
    tracefs::bpf_table found;
    for (const auto& [key, words] : table_) {
        found.entries.push_back({key, words});
    }
    found.losses = losses_;
    return found;
}

}  // namespace eventlog::test
