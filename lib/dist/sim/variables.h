// The program's variables that outlive its functions: each process has its own, while virtual ranks share
// one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dist::sim {

struct Variable {
  const std::byte* at;
  std::size_t bytes;
  std::string what;        // "global variable 'losses'", "static variable 'count' in next_id()"
  const std::byte* guard;  // if not null: zero until a function has initialised it
};

// The variables of the main program, by address: those that it may change, according to its symbol table,
// without constants, thread_local variables, and what belongs to the compiler, the C and C++ libraries, dist,
// GoogleTest and a few more (by their namespaces). Other libraries that are linked statically are part of the
// program. Empty if there is no such table (a stripped or fully static program). Guards are included: their
// `what` is empty. Read at the first call; lives until the process ends. Thread-safe.
const std::vector<Variable>& program_variables();

}  // namespace dist::sim
