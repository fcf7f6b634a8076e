// Object check: what a compiled submission defines and uses. The public part of the library may be used; its
// inside would bring answers with it, and names of the library or of the grader are not the submission's to
// define.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace judge {

// Words of the headers that may be used: everything that is a name in them is one.
std::set<std::string> words_in(const std::string& text);

// Namespaces of the library that a lab's contract keeps away, as they have what it asks for, in lines like
//   // Not for this lab: dist::data
std::set<std::string> kept_away(const std::string& contract);

// `symbols`: what `nm -C` prints of the object; `interposed`: `nm -D -C --defined-only` of the linked
// program, which lists what shared libraries would take from it; `library`: the same of the library. Empty
// when all is well, else what is wrong, in one line.
std::string foreign_symbol(const std::string& symbols, const std::set<std::string>& words,
                           const std::set<std::string>& kept_away = {});
std::string interposing_symbol(const std::string& symbols, const std::string& interposed,
                               const std::string& library);

// `dependencies`: what the compiler's -MF writes. The first file under `root` that is not among `allowed`.
std::string foreign_include(const std::string& dependencies, const std::filesystem::path& root,
                            const std::set<std::string>& allowed);

// Whether this object has code that is compiled once more when it is linked. The linker and nm then know only
// the symbols that such a part has of its own, and it is part of the object to say which.
bool has_hidden_code(std::string_view object);

}  // namespace judge
