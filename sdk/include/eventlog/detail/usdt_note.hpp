// SPDX-License-Identifier: MIT
//
// Describes a USDT probe in an ELF file: a note in the section .note.stapsdt, which debuggers and
// tracers read and which is not loaded.
//
//     u32 size of the owner's name, u32 size of the description, u32 3
//     "stapsdt\0"
//     u64 address of the probe, a nop
//     u64 address of .stapsdt.base, by which readers find the displacement by prelink(8)
//     u64 address of the semaphore, which a tracer increments while it is attached
//     "provider\0" "event\0" "-8@0(%rdi) 8@8(%rdi) ...\0"
//
// <sys/sdt.h> writes such notes for names that are literals. Here names are compile-time constants:
// they reach the assembler as numbers of eight characters each, and the assembler splits them
// again.
//
// The arguments are in an array, eight bytes each, whose address is in the register of a function's
// first argument. A minus sign in front of the 8 marks a signed argument.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// The maximum number of arguments that tracers support.
inline constexpr std::size_t probe_arguments_max = 12;

/// A name of up to 63 characters in the form for the assembler.
struct probe_name {
    std::uint64_t words[8]{};
    std::size_t size = 0;
};

constexpr probe_name make_probe_name(const char* begin, std::size_t size) {
    probe_name made;
    made.size = size;
    for (std::size_t i = 0; i < size; ++i) {
        made.words[i / 8] |= std::uint64_t{static_cast<unsigned char>(begin[i])} << i % 8 * 8;
    }
    return made;
}

/// The content of a probe's note.
struct probe_description {
    probe_name provider{};
    probe_name event{};
    std::size_t count = 0;    // of arguments
    std::uint64_t signs = 0;  // bit n: argument n is signed
};

// clang-format off

// The operand modifier that prints a number without a prefix. g++ needs another one for numbers of
// more than 32 bits.
#if defined(__x86_64__)
#define EVENTLOG_NOTE_WIDE "P"
#else
#define EVENTLOG_NOTE_WIDE "c"
#endif

// The characters of one word of a name, up to the name's size.
#define EVENTLOG_NOTE_WORD(name, number)                                                           \
    ".irp eventlog_at, 0, 1, 2, 3, 4, 5, 6, 7\n"                                                   \
    ".if %c[" name "_size] > 8 * " #number " + \\eventlog_at\n"                                    \
    ".byte (%" EVENTLOG_NOTE_WIDE "[" name #number "] >> (8 * \\eventlog_at)) & 255\n"             \
    ".endif\n"                                                                                     \
    ".endr\n"
#define EVENTLOG_NOTE_NAME(name)                                                                   \
    EVENTLOG_NOTE_WORD(name, 0) EVENTLOG_NOTE_WORD(name, 1) EVENTLOG_NOTE_WORD(name, 2)            \
    EVENTLOG_NOTE_WORD(name, 3) EVENTLOG_NOTE_WORD(name, 4) EVENTLOG_NOTE_WORD(name, 5)            \
    EVENTLOG_NOTE_WORD(name, 6) EVENTLOG_NOTE_WORD(name, 7)                                        \
    ".byte 0\n"
#define EVENTLOG_NOTE_NUMBERS(name, from)                                                          \
    [name##_size] "i"((from).size), [name##0] "i"((from).words[0]),                                \
    [name##1] "i"((from).words[1]), [name##2] "i"((from).words[2]),                                \
    [name##3] "i"((from).words[3]), [name##4] "i"((from).words[4]),                                \
    [name##5] "i"((from).words[5]), [name##6] "i"((from).words[6]),                                \
    [name##7] "i"((from).words[7])

#if defined(__aarch64__)
#define EVENTLOG_NOTE_PLACE(offset) "8@[x0, " #offset "]"
#else
#define EVENTLOG_NOTE_PLACE(offset) "8@" #offset "(%%rdi)"
#endif
#define EVENTLOG_NOTE_ARGUMENT(number, offset)                                                     \
    ".if %c[count] > " #number "\n"                                                                \
    ".if " #number "\n.ascii \" \"\n.endif\n"                                                      \
    ".if (%c[signs] >> " #number ") & 1\n.ascii \"-\"\n.endif\n"                                   \
    ".ascii \"" EVENTLOG_NOTE_PLACE(offset) "\"\n"                                                 \
    ".endif\n"

// "?" puts the note into the section group of its function, so that the linker keeps or discards
// both.
#define EVENTLOG_NOTE                                                                              \
    "990: nop\n"                                                                                   \
    ".pushsection .note.stapsdt, \"?\", \"note\"\n"                                                \
    ".balign 4\n"                                                                                  \
    ".4byte 992f - 991f, 994f - 993f, 3\n"                                                         \
    "991: .asciz \"stapsdt\"\n"                                                                    \
    "992: .balign 4\n"                                                                             \
    "993: .8byte 990b\n"                                                                           \
    ".8byte _.stapsdt.base\n"                                                                      \
    ".8byte %c[semaphore]\n"                                                                       \
    EVENTLOG_NOTE_NAME("provider")                                                                 \
    EVENTLOG_NOTE_NAME("event")                                                                    \
    EVENTLOG_NOTE_ARGUMENT(0, 0) EVENTLOG_NOTE_ARGUMENT(1, 8) EVENTLOG_NOTE_ARGUMENT(2, 16)        \
    EVENTLOG_NOTE_ARGUMENT(3, 24) EVENTLOG_NOTE_ARGUMENT(4, 32) EVENTLOG_NOTE_ARGUMENT(5, 40)      \
    EVENTLOG_NOTE_ARGUMENT(6, 48) EVENTLOG_NOTE_ARGUMENT(7, 56) EVENTLOG_NOTE_ARGUMENT(8, 64)      \
    EVENTLOG_NOTE_ARGUMENT(9, 72) EVENTLOG_NOTE_ARGUMENT(10, 80) EVENTLOG_NOTE_ARGUMENT(11, 88)    \
    ".byte 0\n"                                                                                    \
    "994: .balign 4\n"                                                                             \
    ".popsection\n"                                                                                \
    ".ifndef _.stapsdt.base\n"                                                                     \
    ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                    \
    ".weak _.stapsdt.base\n"                                                                       \
    ".hidden _.stapsdt.base\n"                                                                     \
    "_.stapsdt.base: .space 1\n"                                                                   \
    ".size _.stapsdt.base, 1\n"                                                                    \
    ".popsection\n"                                                                                \
    ".pushsection .probes, \"awG\", \"progbits\", .eventlog.probes, comdat\n"                      \
    ".space 2\n"                                                                                   \
    ".popsection\n"                                                                                \
    ".endif\n"

// clang-format on

/// The semaphore of a probe. It must be in a page of the program's file, where the kernel looks for
/// it; variables that are all zero are in no page of the file. perf and bcc compute its file offset
/// from the section .probes, in which <sys/sdt.h> puts semaphores. g++ 12 ignores section
/// attributes of variables of templates. Two bytes in .probes suffice, because that section is in
/// the same segment.
struct probe_semaphore {
    std::uint16_t count = 0;
    std::uint16_t in_file = 1;
};

// The objects that arguments point to must be in memory, so g++ must not analyze which of them the
// function reads.
#ifdef __clang__
#define EVENTLOG_NOTE_FUNCTION gnu::noinline
#else
#define EVENTLOG_NOTE_FUNCTION gnu::noipa
#endif

/// The probe, in a function of its own, once for each event in each shared object.
template <const probe_description& Description, probe_semaphore& Semaphore>
[[EVENTLOG_NOTE_FUNCTION, gnu::visibility("hidden")]] void fire_probe(
    const std::uint64_t* values) noexcept {
#if defined(__aarch64__)
    register const std::uint64_t* in_place asm("x0") = values;
#define EVENTLOG_NOTE_VALUES "r"(in_place)
#define EVENTLOG_NOTE_SYMBOL "S"
#elif defined(__x86_64__)
#define EVENTLOG_NOTE_VALUES "D"(values)
#define EVENTLOG_NOTE_SYMBOL "i"
#endif
#ifdef EVENTLOG_NOTE_VALUES
    asm volatile(EVENTLOG_NOTE
                 :
                 : EVENTLOG_NOTE_VALUES, [semaphore] EVENTLOG_NOTE_SYMBOL(&Semaphore.count),
                   [count] "i"(Description.count), [signs] "i"(Description.signs),
                   EVENTLOG_NOTE_NUMBERS(provider, Description.provider),
                   EVENTLOG_NOTE_NUMBERS(event, Description.event)
                 : "memory");
#else
    static_assert(Description.count > probe_arguments_max,
                  "eventlog: USDT probes are supported on x86-64 and aarch64 only. Remove .usdt "
                  "from its eventlog::provider_info on this processor.");
#endif
}

#undef EVENTLOG_NOTE_WIDE
#undef EVENTLOG_NOTE_WORD
#undef EVENTLOG_NOTE_NAME
#undef EVENTLOG_NOTE_NUMBERS
#undef EVENTLOG_NOTE_PLACE
#undef EVENTLOG_NOTE_ARGUMENT
#undef EVENTLOG_NOTE
#undef EVENTLOG_NOTE_FUNCTION
#undef EVENTLOG_NOTE_VALUES
#undef EVENTLOG_NOTE_SYMBOL

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
