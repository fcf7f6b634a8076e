// Reads the symbol table of the running program: which symbols are variables that it may change, which of
// them belong to the program itself, and how they are called in messages.
#include "dist/sim/variables.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include <cxxabi.h>
#include <fmt/format.h>
#include <link.h>

namespace dist::sim {
namespace {

using Part = ElfW(Phdr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);

// The parts of the address space, as the program's file requests them.
struct Image {
  ElfW(Addr) base = 0;
  std::span<const Part> parts;
};

Image main_program() {
  Image image;
  const auto take_first = [](dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<Image*>(to) = {info->dlpi_addr, {info->dlpi_phdr, info->dlpi_phnum}};
    return 1;
  };
  dl_iterate_phdr(take_first, &image);
  return image;
}

bool holds(const Part& part, const Symbol& symbol) {
  return part.p_vaddr <= symbol.st_value && symbol.st_value - part.p_vaddr + symbol.st_size <= part.p_memsz;
}

bool may_change(const Image& image, const Symbol& symbol) {
  bool writable = false;
  for (const auto& part : image.parts) {
    if (!holds(part, symbol)) continue;
    if (part.p_type == PT_GNU_RELRO) return false;  // read-only once the program is loaded
    writable = writable || (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0);
  }
  return writable;
}

// Returns fewer items if the file has no more.
template <class T>
std::vector<T> read_some(std::ifstream& file, std::uint64_t offset, std::uint64_t count) {
  file.clear();
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  std::vector<T> items(std::min(count, offset < size ? (size - offset) / sizeof(T) : 0));
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(items.data()), static_cast<std::streamsize>(items.size() * sizeof(T)));
  return items;
}

struct SymbolTable {
  std::vector<Symbol> symbols;
  std::vector<char> names;  // each ends with a zero

  std::string_view name(const Symbol& symbol) const {
    return symbol.st_name < names.size() ? names.data() + symbol.st_name : "";
  }
};

bool same_parts(std::span<const Part> some, std::span<const Part> others) {
  return std::ranges::equal(some, others, [](const auto& a, const auto& b) {
    return a.p_type == b.p_type && a.p_vaddr == b.p_vaddr && a.p_memsz == b.p_memsz;
  });
}

// Empty if there is no table, and if the file is another one (ld.so was told to run the program).
SymbolTable read_symbols(const Image& image) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto header = read_some<ElfW(Ehdr)>(file, 0, 1);
  if (header.empty()) return {};
  if (!same_parts(read_some<Part>(file, header[0].e_phoff, header[0].e_phnum), image.parts)) return {};
  const auto sections = read_some<Section>(file, header[0].e_shoff, header[0].e_shnum);
  const auto table = std::ranges::find(sections, ElfW(Word){SHT_SYMTAB}, &Section::sh_type);
  if (table == sections.end() || table->sh_link >= sections.size()) return {};
  const auto& names = sections[table->sh_link];
  SymbolTable read{read_some<Symbol>(file, table->sh_offset, table->sh_size / sizeof(Symbol)),
                   read_some<char>(file, names.sh_offset, names.sh_size)};
  read.names.push_back('\0');
  return read;
}

std::string demangled(std::string_view symbol) {
  const std::string whole(symbol.substr(0, symbol.find('.')));  // without the suffixes that compilers append
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(whole.c_str(), nullptr, nullptr, &status), &std::free);
  return whole.starts_with("_Z") && name ? name.get() : whole;
}

// Whether the variable is the program's own, not a library's or the compiler's.
bool is_of_program(std::string_view symbol, std::string_view name) {
  constexpr std::array libraries{"std::",    "__gnu_cxx::", "dist::",  "testing::", "fmt::",
                                 "spdlog::", "nlohmann::",  "boost::", "CLI::",     "Eigen::"};
  constexpr std::array of_c{"stdin",  "stdout", "stderr", "environ",  "optarg",   "optind",
                            "opterr", "optopt", "tzname", "timezone", "daylight", "signgam"};
  const auto begins = [&](const char* space) { return name.starts_with(space); };
  if (symbol.find('@') != symbol.npos) return false;  // a copy of a library's variable, such as std::cout
  if (symbol.starts_with("_ZG")) return false;        // the compiler's: targets of references
  if (name.empty() || name[0] == '.' || name.starts_with("__")) return false;
  if (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z') return false;
  return std::ranges::none_of(libraries, begins) && std::ranges::find(of_c, name) == of_c.end();
}

std::string shortened(std::string name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> shorter{
      {{"(anonymous namespace)::", ""},
       {"[abi:cxx11]", ""},
       {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"}}};
  for (const auto& [text, instead] : shorter) {
    for (auto at = name.find(text); at != name.npos; at = name.find(text))
      name.replace(at, text.size(), instead);
  }
  return name;
}

std::string described(std::string_view symbol, const std::string& name) {
  const auto end = name.rfind("::");
  if (!symbol.starts_with("_ZZ") || end == name.npos) return fmt::format("global variable '{}'", name);
  const std::string function = name.substr(0, end);
  const auto lambda = std::min(function.find("::{lambda"), function.find("::$_"));  // by GCC, by Clang
  return fmt::format("static variable '{}' in {}", name.substr(end + 2), function.substr(0, lambda));
}

std::vector<Variable> read_variables() {
  const Image image = main_program();
  // A fully static program has the C library's variables among its own.
  if (std::ranges::find(image.parts, ElfW(Word){PT_INTERP}, &Part::p_type) == image.parts.end()) return {};
  const SymbolTable table = read_symbols(image);
  std::vector<Variable> variables;
  std::map<std::string_view, const std::byte*> guards;  // by the end of the symbol
  const auto place = [&](const Symbol& symbol) {
    return reinterpret_cast<const std::byte*>(image.base + symbol.st_value);
  };
  const auto visit = [&](auto use) {
    for (const auto& symbol : table.symbols) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
          symbol.st_shndx < SHN_LORESERVE && symbol.st_size > 0 && may_change(image, symbol))
        use(symbol, table.name(symbol));
    }
  };
  constexpr std::string_view guard = "_ZGV", of_cxx = "_Z";
  visit([&](const Symbol& symbol, std::string_view name) {
    if (name.starts_with(guard)) guards[name.substr(guard.size())] = place(symbol);
  });
  visit([&](const Symbol& symbol, std::string_view mangled) {
    const std::string name = demangled(mangled);
    if (!is_of_program(mangled, name)) return;
    const auto found =
        mangled.starts_with(of_cxx) ? guards.find(mangled.substr(of_cxx.size())) : guards.end();
    const std::byte* const its_guard = found == guards.end() ? nullptr : found->second;
    variables.push_back({place(symbol), symbol.st_size, described(mangled, shortened(name)), its_guard});
    if (its_guard) variables.push_back({its_guard, 1, "", nullptr});
  });
  std::ranges::sort(variables, {}, &Variable::at);
  const auto same_place = [](const Variable& a, const Variable& b) { return a.at == b.at; };  // other names
  variables.erase(std::unique(variables.begin(), variables.end(), same_place), variables.end());
  return variables;
}

}  // namespace

const std::vector<Variable>& program_variables() {
  static const std::vector<Variable> variables = read_variables();
  return variables;
}

}  // namespace dist::sim
