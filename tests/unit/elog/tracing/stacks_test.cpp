// SPDX-License-Identifier: MIT
//
// Call stacks: the mapped code of processes, the names of its functions, and the field `stack`.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "random_source.hpp"
#include "record_builder.hpp"
#include "schema/stack_field.hpp"
#include "scratch.hpp"
#include "tracing/elf_symbolizer.hpp"
#include "tracing/kernel_functions.hpp"
#include "tracing/process_mappings.hpp"
#include "tracing/stack_symbolizer.hpp"

extern "C" {
// A function whose symbol is public.
[[gnu::visibility("default"), gnu::noinline]] int function_of_the_test() {
    asm volatile("");
    return 7;
}
}

namespace {

using elog::process_mappings;

constexpr std::string_view maps =
    "00400000-00402000 r--p 00000000 08:02 4711    /usr/bin/shop\n"
    "00402000-00410000 r-xp 00002000 08:02 4711    /usr/bin/shop\n"
    "7f0000000000-7f0000008000 r-xp 00001000 08:02 12    /lib/a library.so (deleted)\n"
    "7f0000010000-7f0000012000 r-xp 00000000 00:00 0    [vdso]\n"
    "7f0000020000-7f0000022000 r-xp 00000000 00:00 0 \n";

std::string found_in(process_mappings& all, std::uint32_t process, std::uint64_t address) {
    const process_mappings::place place = all.find(process, address);
    return place.mapping == nullptr ? "" : place.mapping->path + '+' + std::to_string(place.offset);
}

TEST(process_mappings, are_file_backed_code_mappings) {
    process_mappings all([](std::uint32_t) { return std::string(maps); });
    EXPECT_EQ(found_in(all, 1, 0x402000), "/usr/bin/shop+8192");
    EXPECT_EQ(found_in(all, 1, 0x40ffff), "/usr/bin/shop+65535");
    EXPECT_EQ(found_in(all, 1, 0x410000), "");
    EXPECT_EQ(found_in(all, 1, 0x400000), "");
    EXPECT_EQ(found_in(all, 1, 0x7f0000000001), "/lib/a library.so (deleted)+4097");
    EXPECT_EQ(found_in(all, 1, 0x7f0000010000), "");
    EXPECT_EQ(found_in(all, 1, UINT64_MAX), "");
}

TEST(process_mappings, of_invalid_text_are_empty) {
    eventlog::test::random_source random(3);
    for (int round = 0; round < 2000; ++round) {
        std::string text(maps);
        for (int change = 0; change < 4; ++change) {
            text[random.below(text.size())] = static_cast<char>(random.below(256));
        }
        text.resize(random.below(text.size()));
        for (const auto& [begin, mapping] : elog::parse_maps(text)) {
            EXPECT_GT(mapping.end, begin);
            EXPECT_EQ(mapping.path.front(), '/');
        }
    }
}

TEST(process_mappings, of_ended_process_come_from_records) {
    process_mappings all([](std::uint32_t) { return std::string(); });
    all.add_mapping(5, 0x1000, {0x3000, 0, 1, "/old"});
    all.add_fork(6, 5);
    all.add_mapping(5, 0x2000, {0x4000, 0x100, 2, "/new"});
    EXPECT_EQ(found_in(all, 5, 0x1000), "");
    EXPECT_EQ(found_in(all, 5, 0x2001), "/new+257");
    EXPECT_EQ(found_in(all, 6, 0x1001), "/old+1");
    EXPECT_EQ(found_in(all, 7, 0x1001), "");
}

TEST(elf_symbolizer, resolves_function_of_this_program) {
    process_mappings all;
    const auto address = reinterpret_cast<std::uintptr_t>(&function_of_the_test);
    const process_mappings::place place = all.find(static_cast<std::uint32_t>(::getpid()), address);
    ASSERT_NE(place.mapping, nullptr);
    const elog::elf_symbolizer names(
        eventlog::core::unique_fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)));
    EXPECT_EQ(names.symbol_at(place.offset), "function_of_the_test");
    EXPECT_EQ(names.symbol_at(UINT64_MAX), "");
    EXPECT_EQ(function_of_the_test(), 7);
}

TEST(elf_symbolizer, is_empty_for_non_elf_file) {
    for (const char* path : {"/dev/zero", "/proc/self/status", "/", "/no such file"}) {
        const elog::elf_symbolizer names(
            eventlog::core::unique_fd(::open(path, O_RDONLY | O_CLOEXEC)));
        EXPECT_EQ(names.symbol_at(0), "") << path;
    }
}

TEST(elf_symbolizer, survives_hostile_elf_file) {
    std::ifstream program("/bin/true", std::ios::binary);
    const std::string sound{std::istreambuf_iterator<char>(program), {}};
    ASSERT_GT(sound.size(), 4096U);
    eventlog::test::random_source random(6);
    for (int round = 0; round < 1000; ++round) {
        std::string changed = sound;
        for (int change = 0; change < 20; ++change) {
            // Headers are at the start and at the end of the file: change these.
            const std::size_t place = random.below(2048);
            const std::size_t at = change % 2 == 0 ? place : changed.size() - 1 - place;
            changed[at] = static_cast<char>(random.below(256));
        }
        eventlog::core::unique_fd file(::memfd_create("changed", MFD_CLOEXEC));
        ASSERT_EQ(::write(file.get(), changed.data(), changed.size()),
                  static_cast<ssize_t>(changed.size()));
        const elog::elf_symbolizer names(std::move(file));
        for (std::uint64_t offset = 0; offset < sound.size(); offset += 997) {
            EXPECT_LE(names.symbol_at(offset).size(), 200U);
        }
    }
}

/// A sparse program of 64-bit ELF with a table of symbols and one of names.
eventlog::core::unique_fd make_sparse_program(std::uint64_t symbols_size,
                                              std::uint64_t names_size) {
    constexpr std::uint64_t content = 4096;
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shoff = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    Elf64_Shdr sections[3]{};
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_offset = content;
    sections[1].sh_size = symbols_size;
    sections[1].sh_entsize = sizeof(Elf64_Sym);
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = content + symbols_size;
    sections[2].sh_size = names_size;
    eventlog::core::unique_fd file(::memfd_create("sparse", MFD_CLOEXEC));
    EXPECT_EQ(::pwrite(file.get(), &header, sizeof header, 0), ssize_t{sizeof header});
    EXPECT_EQ(::pwrite(file.get(), sections, sizeof sections, sizeof header),
              ssize_t{sizeof sections});
    EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(content + symbols_size + names_size)), 0);
    return file;
}

/// The memory that this process has ever had, in bytes.
std::uint64_t peak_memory() {
    rusage used{};
    EXPECT_EQ(::getrusage(RUSAGE_SELF, &used), 0);
    return static_cast<std::uint64_t>(used.ru_maxrss) << 10U;
}

TEST(elf_symbolizer, does_not_load_huge_sections_of_sparse_file) {
    constexpr std::uint64_t huge = std::uint64_t{40} << 30U;
    constexpr std::uint64_t small = std::uint64_t{24} << 10U;
    const std::uint64_t before = peak_memory();
    for (const auto& [symbols, names] : {std::pair{huge, small}, std::pair{small, huge}}) {
        const elog::elf_symbolizer all(make_sparse_program(symbols, names));
        EXPECT_EQ(all.symbol_at(0), "");
    }
    EXPECT_LT(peak_memory() - before, std::uint64_t{64} << 20U);
}

TEST(elf_symbolizer, demangles_without_parameters) {
    EXPECT_EQ(elog::demangled_name("main"), "main");
    EXPECT_EQ(elog::demangled_name("_ZN4shop6handleEi"), "shop::handle");
    EXPECT_EQ(elog::demangled_name("_ZNK4shop4sale3sumEv"), "shop::sale::sum");
    EXPECT_EQ(elog::demangled_name("_ZN12_GLOBAL__N_14workEPFviE"), "(anonymous namespace)::work");
    EXPECT_EQ(elog::demangled_name("_ZN4shopclEi"), "shop::operator()");
    EXPECT_EQ(elog::demangled_name("_Znot a name"), "_Znot a name");
    EXPECT_LE(elog::demangled_name(std::string(1000, 'x').c_str()).size(), 200U);
}

/// A reference to a part of a symbol; the first one is S_, the next one S0_.
std::string reference_to(std::size_t part) {
    constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return part == 0 ? "S_" : std::string("S") + digits.at(part - 1) + '_';
}

TEST(elf_symbolizer, demangles_names_with_usual_references) {
    const std::string name = elog::demangled_name(
        "_ZNSt8_Rb_treeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4pairIKS5_S5_E"
        "St10_Select1stIS8_ESt4lessIS5_ESaIS8_EE8_M_eraseEPSt13_Rb_tree_nodeIS8_E");
    EXPECT_TRUE(name.starts_with("std::_Rb_tree<std::")) << name;
    EXPECT_EQ(elog::demangled_name(
                  "_ZSt11make_uniqueI4shopJRiEENSt9_MakeUniqIT_E15__single_objectEDpOT0_"),
              "std::_MakeUniq<shop>::__single_object std::make_unique<shop, int&>");
}

// Each part has the one before it twice, so that the readable name has 50 MB.
TEST(elf_symbolizer, does_not_expand_substitutions_without_end) {
    std::string symbol = "_Z1f1A1BIS_S_E";
    constexpr std::size_t levels = 22;
    for (std::size_t part = 2; part < levels + 2; ++part) {
        symbol += "S0_I" + reference_to(part) + reference_to(part) + 'E';
    }
    const std::uint64_t before = peak_memory();
    EXPECT_EQ(elog::demangled_name(symbol.c_str()), symbol.substr(0, 200));
    EXPECT_LT(peak_memory() - before, std::uint64_t{16} << 20U);
}

// Each pattern has another one, for each of 50 arguments.
TEST(elf_symbolizer, does_not_expand_argument_lists_without_end) {
    std::string pattern = "DpT_";
    for (int level = 0; level < 3; ++level) {
        pattern.insert(0, "Dp1AIT_").push_back('E');
    }
    const std::string symbol = "_Z1fIJ" + std::string(50, 'i') + "EEv" + pattern;
    EXPECT_EQ(elog::demangled_name(symbol.c_str()), symbol);
}

/// A file as /proc/kallsyms.
elog::kernel_functions functions_in(std::string_view text) {
    const std::string path = eventlog::test::scratch_directory() + "/kallsyms";
    std::ofstream(path, std::ios::binary) << text;
    return elog::kernel_functions(path);
}

constexpr std::string_view symbols = "ffffffff81000200 t do_work\n"
                                     "0000000000000010 A fixed_percpu_data\n"
                                     "ffffffff81000000 T start\n"
                                     "ffffffff81000000 T same_as_start\n"
                                     "ffffffff81000210 D data\n"
                                     "ffffffffc0000000 t probe\t[module]\n"
                                     "ffffffff8100zzzz t no_number\n"
                                     "ffffffff81000300\n";

TEST(kernel_functions, are_found_by_address) {
    elog::kernel_functions functions = functions_in(symbols);
    EXPECT_EQ(functions.name_of(0xffffffff81000000), "start_[k]");
    EXPECT_EQ(functions.name_of(0xffffffff810001ff), "start_[k]");
    EXPECT_EQ(functions.name_of(0xffffffff81000310), "do_work_[k]");
    EXPECT_EQ(functions.name_of(0xffffffffc0000001), "probe_[k]");
}

TEST(kernel_functions, are_addresses_without_a_name) {
    elog::kernel_functions functions = functions_in(symbols);
    EXPECT_EQ(functions.name_of(0xffffffff80ffffff), "0xffffffff80ffffff_[k]");
    EXPECT_EQ(functions.name_of(0xffffffff81010200), "0xffffffff81010200_[k]");
    EXPECT_EQ(functions.name_of(UINT64_MAX), "0xffffffffffffffff_[k]");
    EXPECT_EQ(functions_in("0000000000000000 T hidden\n").name_of(5), "0x5_[k]");
    EXPECT_EQ(elog::kernel_functions("/no such file").name_of(5), "0x5_[k]");
}

std::vector<std::uint8_t> bytes_of(const std::vector<std::uint64_t>& addresses) {
    std::vector<std::uint8_t> bytes(addresses.size() * sizeof(std::uint64_t));
    std::memcpy(bytes.data(), addresses.data(), bytes.size());
    return bytes;
}

TEST(stack_symbolizer, lists_functions_of_kernel_behind_those_of_program) {
    process_mappings all([](std::uint32_t) { return std::string(); });
    elog::stack_symbolizer texts(all, elog::elf_symbolizer::memory_max, functions_in(symbols));
    const std::vector<std::uint8_t> stored =
        bytes_of({UINT64_MAX - 127, 0xffffffff81000205, 0xffffffff81000200, UINT64_MAX - 511,
                  0x1000, 0x2001});
    EXPECT_EQ(texts.text_of(1, stored), "0x2000;0x1000;start_[k];do_work_[k]");
}

TEST(stack_symbolizer, lists_outermost_first_without_emit_frames) {
    process_mappings all([](std::uint32_t) { return std::string(); });
    elog::stack_symbolizer texts(all);
    const std::vector<std::uint8_t> stored =
        bytes_of({UINT64_MAX - 511, 0x1000, 0x2001, 0, 0x3001});
    EXPECT_EQ(texts.text_of(1, stored), "0x3000;0x2000;0x1000");
    all.add_mapping(1, 0x2000, {0x2800, 0x100, 0, "/no/such;file"});
    EXPECT_EQ(texts.text_of(1, stored), "0x3000;such:file+0x100;0x1000");
    EXPECT_EQ(texts.text_of(1, {}), "");
    EXPECT_TRUE(elog::is_emit_frame("eventlog::core::emit_to_user_events"));
    EXPECT_TRUE(elog::is_emit_frame("write"));
    EXPECT_FALSE(elog::is_emit_frame("writer"));
}

/// The function of this test at its place in that file, in a stack of one function.
std::string name_in_file(elog::stack_symbolizer& texts, process_mappings& all,
                         const std::string& path, std::uint64_t offset, std::uint64_t inode = 0) {
    constexpr std::uint64_t base = 0x10000000;
    const auto process = static_cast<std::uint32_t>(::getpid());
    all.add_mapping(process, base, {base + offset + 1, 0, inode, path});
    const std::uint64_t address = base + offset;
    std::vector<std::uint8_t> stored(sizeof address);
    std::memcpy(stored.data(), &address, sizeof address);
    return std::string(texts.text_of(process, stored));
}

std::uint64_t inode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_ino;
}

/// The place of the function of this test in its program.
std::uint64_t offset_of_function() {
    process_mappings own;
    const process_mappings::place place =
        own.find(static_cast<std::uint32_t>(::getpid()),
                 reinterpret_cast<std::uintptr_t>(&function_of_the_test));
    EXPECT_NE(place.mapping, nullptr);
    return place.offset;
}

TEST(stack_symbolizer, does_not_read_a_file_that_has_replaced_the_mapped_one) {
    const std::string path = eventlog::test::scratch_directory() + "/replaced_program";
    std::ofstream(path) << "the mapped file";
    const std::uint64_t mapped = inode_of(path);
    std::filesystem::copy_file(std::filesystem::read_symlink("/proc/self/exe"), path + ".new");
    std::filesystem::rename(path + ".new", path);
    const std::uint64_t offset = offset_of_function();
    process_mappings all([](std::uint32_t) { return std::string(); });
    elog::stack_symbolizer texts(all);
    EXPECT_EQ(name_in_file(texts, all, path, offset, inode_of(path)), "function_of_the_test");
    const std::string unnamed = name_in_file(texts, all, path, offset, mapped);
    EXPECT_TRUE(unnamed.starts_with("replaced_program+0x")) << unnamed;
    std::filesystem::remove(path);
}

TEST(stack_symbolizer, does_not_open_a_pipe) {
    const std::string path = eventlog::test::scratch_directory() + "/pipe";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    process_mappings all([](std::uint32_t) { return std::string(); });
    elog::stack_symbolizer texts(all);
    // Opening it would wait for a writer for ever.
    EXPECT_EQ(name_in_file(texts, all, path, 16), "pipe+0x10");
    EXPECT_EQ(name_in_file(texts, all, path, 16, inode_of(path)), "pipe+0x10");
    std::filesystem::remove(path);
}

TEST(stack_symbolizer, bounds_memory_of_all_files_together) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    const std::string copy = eventlog::test::scratch_directory() + "/copied_program";
    std::filesystem::copy_file(program, copy, std::filesystem::copy_options::overwrite_existing);
    const std::uint64_t offset = offset_of_function();
    const elog::elf_symbolizer one(
        eventlog::core::unique_fd(::open(program.c_str(), O_RDONLY | O_CLOEXEC)));
    ASSERT_GT(one.memory(), 0U);

    process_mappings all([](std::uint32_t) { return std::string(); });
    elog::stack_symbolizer texts(all, one.memory());
    EXPECT_EQ(name_in_file(texts, all, program, offset), "function_of_the_test");
    const std::string unnamed = name_in_file(texts, all, copy, offset);
    EXPECT_TRUE(unnamed.starts_with("copied_program+0x")) << unnamed;
    elog::stack_symbolizer larger(all, 2 * one.memory());
    EXPECT_EQ(name_in_file(larger, all, program, offset), "function_of_the_test");
    EXPECT_EQ(name_in_file(larger, all, copy, offset), "function_of_the_test");
    std::filesystem::remove(copy);
}

TEST(stack_symbolizer, truncates_at_limit) {
    process_mappings all([](std::uint32_t) { return std::string(); });
    elog::stack_symbolizer texts(all);
    std::vector<std::uint8_t> stored;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const std::uint64_t address = 0x7f0000000000 + i * 16;
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&address);
        stored.insert(stored.end(), bytes, bytes + sizeof address);
    }
    const std::string_view text = texts.text_of(1, stored);
    EXPECT_TRUE(text.starts_with("...;0x"));
    EXPECT_TRUE(text.ends_with(";0x7f0000000000"));
    EXPECT_LT(text.size(), 8300U);
}

TEST(stack_field, is_last_field) {
    const eventlog::test::record_builder made(R"(
provider deep {
    event odd info { stack: u8  rest: u16 }
    event empty info {}
})",
                                              "deep", 1);
    const auto with = elog::with_stack_fields(made.provider().schema);
    EXPECT_NE(with->hash, made.provider().schema.hash);
    const elog::provider_schema read = elog::provider_schema::parse(with->binary);
    const elog::event_schema& odd = read.events[0];
    EXPECT_EQ(odd.fields.back().name, "stack_");
    const auto& before = made.provider().schema.events;
    EXPECT_EQ(elog::stack_offset(before[0], odd), 4);
    EXPECT_EQ(odd.fixed_size, 8);
    EXPECT_EQ(read.events[1].fields.back().name, "stack");
    EXPECT_EQ(elog::stack_offset(before[1], read.events[1]), 0);
    EXPECT_FALSE(elog::stack_offset(before[0], before[0]));
}

TEST(stack_field, is_omitted_if_event_is_full) {
    elog::event_schema full;
    full.fields.resize(eventlog::schema_format::fields_max);
    EXPECT_FALSE(elog::add_stack_field(full));
    EXPECT_EQ(full.fields.size(), eventlog::schema_format::fields_max);
    elog::event_schema large;
    large.fixed_size = 0xff00;
    EXPECT_FALSE(elog::add_stack_field(large));
    EXPECT_TRUE(large.fields.empty());
}

}  // namespace
