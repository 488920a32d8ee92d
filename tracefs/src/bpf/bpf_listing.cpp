// SPDX-License-Identifier: MIT
#include "bpf/bpf_listing.hpp"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace eventlog::tracefs {
namespace {

const char* operator_of(unsigned operation) noexcept {
    switch (operation) {
        case BPF_MOV:
            return "=";
        case BPF_ADD:
            return "+=";
        case BPF_SUB:
            return "-=";
        case BPF_MUL:
            return "*=";
        case BPF_DIV:
            return "/=";
        case BPF_OR:
            return "|=";
        case BPF_AND:
            return "&=";
        case BPF_LSH:
            return "<<=";
        case BPF_RSH:
            return ">>=";
        case BPF_ARSH:
            return "s>>=";
        default:
            return nullptr;
    }
}

const char* comparison_of(unsigned operation) noexcept {
    switch (operation) {
        case BPF_JEQ:
            return "==";
        case BPF_JNE:
            return "!=";
        case BPF_JGT:
            return ">";
        case BPF_JGE:
            return ">=";
        case BPF_JLT:
            return "<";
        case BPF_JLE:
            return "<=";
        case BPF_JSGT:
            return "s>";
        case BPF_JSGE:
            return "s>=";
        case BPF_JSLT:
            return "s<";
        case BPF_JSLE:
            return "s<=";
        default:
            return nullptr;
    }
}

const char* helper_of(std::int32_t helper) noexcept {
    switch (helper) {
        case BPF_FUNC_map_lookup_elem:
            return "map_lookup_elem";
        case BPF_FUNC_map_update_elem:
            return "map_update_elem";
        case BPF_FUNC_get_current_pid_tgid:
            return "get_current_pid_tgid";
        case BPF_FUNC_get_smp_processor_id:
            return "get_smp_processor_id";
        case BPF_FUNC_probe_read_kernel_str:
            return "probe_read_kernel_str";
        default:
            return nullptr;
    }
}

const char* type_of(unsigned size) noexcept {
    switch (size) {
        case BPF_B:
            return "u8";
        case BPF_H:
            return "u16";
        case BPF_W:
            return "u32";
        default:
            return "u64";
    }
}

/// *(TYPE *)(rN +OFFSET)
std::string memory_of(const bpf_insn& each, unsigned base) {
    return fmt::format("*({} *)(r{} {:+})", type_of(BPF_SIZE(each.code)), base, each.off);
}

std::string second_operand(const bpf_insn& each) {
    return BPF_SRC(each.code) == BPF_X ? fmt::format("r{}", unsigned{each.src_reg})
                                       : fmt::format("{}", each.imm);
}

std::string arithmetic(const bpf_insn& each) {
    const unsigned to = each.dst_reg;
    if (BPF_OP(each.code) == BPF_NEG) {
        return fmt::format("r{0} = -r{0}", to);
    }
    const char* const symbol = operator_of(BPF_OP(each.code));
    return symbol == nullptr ? "" : fmt::format("r{} {} {}", to, symbol, second_operand(each));
}

std::string jump(const bpf_insn& each, std::size_t at) {
    const std::int64_t target = static_cast<std::int64_t>(at) + 1 + each.off;
    switch (BPF_OP(each.code)) {
        case BPF_EXIT:
            return "exit";
        case BPF_JA:
            return fmt::format("goto {}", target);
        case BPF_CALL: {
            const char* const name = helper_of(each.imm);
            return name == nullptr ? fmt::format("call {}", each.imm)
                                   : fmt::format("call bpf_{}", name);
        }
        default: {
            const char* const symbol = comparison_of(BPF_OP(each.code));
            return symbol == nullptr ? ""
                                     : fmt::format("if r{} {} {} goto {}", unsigned{each.dst_reg},
                                                   symbol, second_operand(each), target);
        }
    }
}

/// A load of 64 bits takes two instructions.
std::string wide_load(const bpf_insn& each, const bpf_insn& next,
                      std::span<const char* const> maps) {
    const auto map = static_cast<std::size_t>(static_cast<std::uint32_t>(each.imm));
    const unsigned to = each.dst_reg;
    if (each.src_reg == 0) {
        const std::uint64_t value = std::uint64_t{static_cast<std::uint32_t>(next.imm)} << 32U |
                                    static_cast<std::uint32_t>(each.imm);
        return fmt::format("r{} = {:#x}", to, value);
    }
    const std::string name = map < maps.size() ? maps[map] : fmt::format("{}", each.imm);
    return each.src_reg == BPF_PSEUDO_MAP_FD ? fmt::format("r{} = map {}", to, name)
                                             : fmt::format("r{} = &map {}[0]", to, name);
}

std::string store(const bpf_insn& each) {
    const std::string place = memory_of(each, each.dst_reg);
    const unsigned mode = BPF_MODE(each.code);
    if (mode == BPF_ATOMIC) {
        return each.imm == BPF_ADD ? fmt::format("lock {} += r{}", place, unsigned{each.src_reg})
                                   : std::string();
    }
    return BPF_CLASS(each.code) == BPF_ST ? fmt::format("{} = {}", place, each.imm)
                                          : fmt::format("{} = r{}", place, unsigned{each.src_reg});
}

/// Empty for an instruction without a text.
std::string text_of(const bpf_insn& each, std::size_t at) {
    switch (BPF_CLASS(each.code)) {
        case BPF_ALU64:
            return arithmetic(each);
        case BPF_JMP:
            return jump(each, at);
        case BPF_LDX:
            return fmt::format("r{} = {}", unsigned{each.dst_reg}, memory_of(each, each.src_reg));
        case BPF_ST:
        case BPF_STX:
            return store(each);
        default:
            return {};
    }
}

bool is_wide_load(const bpf_insn& each) noexcept {
    return each.code == (BPF_LD | BPF_IMM | BPF_DW);
}

}  // namespace

std::string list_instructions(std::span<const bpf_insn> program,
                              std::span<const char* const> maps) {
    fmt::memory_buffer lines;
    const auto out = fmt::appender(lines);
    for (std::size_t at = 0; at < program.size(); ++at) {
        const bpf_insn& each = program[at];
        const bool is_wide = is_wide_load(each) && at + 1 < program.size();
        fmt::format_to(out, "{:>4}: ({:02x}) {}\n", at, each.code,
                       is_wide ? wide_load(each, program[at + 1], maps) : text_of(each, at));
        at += is_wide ? 1 : 0;
    }
    return fmt::to_string(lines);
}

}  // namespace eventlog::tracefs
