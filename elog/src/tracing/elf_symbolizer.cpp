// SPDX-License-Identifier: MIT
#include "tracing/elf_symbolizer.hpp"

#include <cxxabi.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace elog {
struct function_symbol {
    std::uint64_t address = 0;
    std::uint64_t size = 0;   // 0: unknown
    std::size_t strings = 0;  // section that contains the name
    std::size_t name = 0;
};

namespace {

// Names of templates may have any length.
constexpr std::size_t name_size_max = 200;
// The demangler calls itself for each nested part of a symbol, and has one stack.
constexpr std::size_t symbol_size_max = 1023;
// See expanded_size(). Of the symbols of libLLVM and libgrpc, 3 of 1000 are above, of those of
// libstdc++ none.
constexpr double expanded_size_max = 1U << 24U;
// Bound for damaged files.
constexpr std::uint64_t symbols_max = std::uint64_t{1} << 24U;

bool is_regular(const eventlog::core::unique_fd& file) {
    struct stat status {};
    return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

/// The symbol table of the program or, if it has been stripped, the table of exported symbols;
/// nullptr: neither.
Elf_Scn* find_symbols(Elf* elf, GElf_Shdr& header) {
    Elf_Scn* found = nullptr;
    for (Elf_Scn* each = ::elf_nextscn(elf, nullptr); each != nullptr;
         each = ::elf_nextscn(elf, each)) {
        GElf_Shdr one{};
        if (::gelf_getshdr(each, &one) == nullptr ||
            (one.sh_type != SHT_SYMTAB && one.sh_type != SHT_DYNSYM)) {
            continue;
        }
        if (found == nullptr || one.sh_type == SHT_SYMTAB) {
            found = each;
            header = one;
        }
    }
    return found;
}

/// libelf reads a section at once, and a sparse file can have one of any size.
constexpr std::uint64_t section_size_max = std::uint64_t{256} << 20U;

/// The size of a section that libelf may load; nothing for another one.
std::optional<std::uint64_t> size_of(Elf* elf, std::size_t section) {
    GElf_Shdr header{};
    Elf_Scn* const found = ::elf_getscn(elf, section);
    const bool is_bounded = found != nullptr && ::gelf_getshdr(found, &header) != nullptr &&
                            header.sh_size <= section_size_max;
    return is_bounded ? std::optional<std::uint64_t>(header.sh_size) : std::nullopt;
}

/// The symbols of a program, and what they take.
struct symbol_table {
    Elf_Scn* section = nullptr;
    GElf_Shdr header{};
    std::uint64_t count = 0;
    std::uint64_t memory = 0;
};

/// Nothing if the table is missing or needs more memory.
std::optional<symbol_table> find_table(Elf* elf, std::uint64_t memory_left) {
    symbol_table table;
    table.section = find_symbols(elf, table.header);
    const GElf_Shdr& header = table.header;
    if (table.section == nullptr || header.sh_entsize == 0 || header.sh_size > section_size_max) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> names = size_of(elf, header.sh_link);
    if (!names) {
        return std::nullopt;
    }
    table.count = std::min(header.sh_size / header.sh_entsize, symbols_max);
    // libelf may keep a section twice, as it is in the file and with the byte order of this
    // machine.
    table.memory = 2 * (header.sh_size + *names) + table.count * sizeof(function_symbol);
    return table.memory <= memory_left ? std::optional(table) : std::nullopt;
}

/// Whether the numbers of sections and segments are in the header. Others may have 32 bits, and
/// libelf allocates memory for all sections; programs have no such numbers.
bool has_bounded_tables(int file) {
    union {
        unsigned char ident[EI_NIDENT];
        Elf32_Ehdr narrow;
        Elf64_Ehdr wide;
    } header{};
    const ssize_t size = ::pread(file, &header, sizeof header, 0);
    const auto is_bounded_in = [&](const auto& one) {
        return size >= static_cast<ssize_t>(sizeof one) && (one.e_shnum != 0 || one.e_shoff == 0) &&
               one.e_phnum != PN_XNUM;
    };
    return size >= EI_NIDENT &&
           (header.ident[EI_CLASS] == ELFCLASS64 ? is_bounded_in(header.wide)
                                                 : is_bounded_in(header.narrow));
}

bool is_function(const GElf_Sym& symbol) {
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
}

/// Sorted by address.
std::vector<function_symbol> read_functions(const symbol_table& table) {
    std::vector<function_symbol> functions;
    Elf_Data* const data = ::elf_getdata(table.section, nullptr);
    if (data == nullptr) {
        return functions;
    }
    for (std::uint64_t i = 0; i < table.count; ++i) {
        GElf_Sym symbol{};
        if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
            break;
        }
        if (is_function(symbol)) {
            functions.push_back(
                {symbol.st_value, symbol.st_size, table.header.sh_link, symbol.st_name});
        }
    }
    std::stable_sort(functions.begin(), functions.end(), [](const auto& one, const auto& other) {
        return one.address < other.address;
    });
    functions.shrink_to_fit();
    return functions;
}

/// Address in memory of an offset in the file; nothing if it is not loaded.
std::optional<std::uint64_t> address_of(Elf* elf, std::uint64_t offset) {
    std::size_t count = 0;
    if (::elf_getphdrnum(elf, &count) != 0) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr header{};
        if (::gelf_getphdr(elf, static_cast<int>(i), &header) != nullptr &&
            header.p_type == PT_LOAD && offset >= header.p_offset &&
            offset - header.p_offset < header.p_filesz) {
            return offset - header.p_offset + header.p_vaddr;
        }
    }
    return std::nullopt;
}

/// Start of the parameters: the ( that matches the last ). Also right for "f(int) const" and
/// "(anonymous namespace)::f(int)".
std::size_t begin_of_parameters(std::string_view name) {
    std::size_t depth = 0;
    for (std::size_t i = name.rfind(')') + 1; i-- > 0;) {
        depth += name[i] == ')' ? 1U : 0U;
        depth -= name[i] == '(' ? 1U : 0U;
        if (depth == 0) {
            return i;
        }
    }
    return name.size();
}

/// The number behind the S or T of a reference, such as S_ or T1A_; nothing: it is none.
std::optional<std::string_view> number_of_reference(std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1);
    return end == std::string_view::npos || text[end] != '_'
               ? std::nullopt
               : std::optional(text.substr(1, end - 1));
}

/// A bound for the size of the demangled name in characters of the symbol, of which one becomes 20
/// at most: "y" is unsigned long long.
///
/// S1_ repeats a part of the symbol, which may itself have references, but only to parts before it.
/// So n references to a part make the rest at most 1 + n times as long. T1_ repeats a template
/// argument, and at most doubles what there is. Dp and sp repeat a part with a T1_ for each
/// argument of a list, of which there are fewer than characters. Other texts that look like one of
/// these count as well.
double expanded_size(std::string_view symbol) {
    std::map<std::string_view, unsigned> repeated;
    unsigned arguments = 0;
    unsigned lists = 0;
    for (std::size_t i = 0; i < symbol.size(); ++i) {
        const std::string_view rest = symbol.substr(i);
        if (rest.front() == 'S' || rest.front() == 'T') {
            const std::optional<std::string_view> number = number_of_reference(rest);
            if (number && rest.front() == 'S') {
                ++repeated[*number];
            } else if (number) {
                ++arguments;
            }
        } else if (rest.starts_with("Dp") || rest.starts_with("sp")) {
            ++lists;
        }
    }
    const auto length = static_cast<double>(symbol.size());
    double size = length * std::pow(2.0, arguments) * std::pow(length, std::min(lists, arguments));
    for (const auto& [number, count] : repeated) {
        size *= 1.0 + count;
    }
    return size;
}

}  // namespace

struct elf_symbolizer::program {
    eventlog::core::unique_fd file;
    Elf* elf = nullptr;
    std::vector<function_symbol> functions;
    std::uint64_t memory = 0;

    explicit program(eventlog::core::unique_fd from) : file(std::move(from)) {}
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    ~program() {
        if (elf != nullptr) {
            ::elf_end(elf);
        }
    }
};

/// The file is read and not mapped, because it may be truncated meanwhile.
elf_symbolizer::elf_symbolizer(eventlog::core::unique_fd file, std::uint64_t memory_left)
    : program_(std::make_unique<program>(std::move(file))) {
    if (!is_regular(program_->file) || !has_bounded_tables(program_->file.get()) ||
        ::elf_version(EV_CURRENT) == EV_NONE) {
        return;
    }
    program_->elf = ::elf_begin(program_->file.get(), ELF_C_READ, nullptr);
    if (program_->elf == nullptr || ::elf_kind(program_->elf) != ELF_K_ELF) {
        return;
    }
    if (const std::optional<symbol_table> table = find_table(program_->elf, memory_left)) {
        program_->memory = table->memory;
        program_->functions = read_functions(*table);
    }
}

std::uint64_t elf_symbolizer::memory() const noexcept {
    return program_->memory;
}

elf_symbolizer::~elf_symbolizer() = default;

std::string elf_symbolizer::symbol_at(std::uint64_t offset) const {
    const std::vector<function_symbol>& all = program_->functions;
    const std::optional<std::uint64_t> address =
        all.empty() ? std::nullopt : address_of(program_->elf, offset);
    if (!address) {
        return {};
    }
    const auto next =
        std::upper_bound(all.begin(), all.end(), *address,
                         [](std::uint64_t at, const auto& one) { return at < one.address; });
    if (next == all.begin()) {
        return {};
    }
    const function_symbol& found = *std::prev(next);
    if (found.size != 0 && *address - found.address >= found.size) {
        return {};
    }
    const char* const symbol = ::elf_strptr(program_->elf, found.strings, found.name);
    return symbol == nullptr ? std::string() : demangled_name(symbol);
}

std::string demangled_name(const char* symbol) {
    const std::string_view mangled(symbol);
    if (mangled.size() > symbol_size_max || expanded_size(mangled) > expanded_size_max) {
        return std::string(mangled.substr(0, name_size_max));
    }
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> written(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
    std::string_view name = status == 0 && written ? written.get() : symbol;
    if (status == 0 && name.find('(') != std::string_view::npos) {
        const std::string_view cut = name.substr(0, begin_of_parameters(name));
        name = cut.empty() ? name : cut;
    }
    return std::string(name.substr(0, name_size_max));
}

}  // namespace elog
