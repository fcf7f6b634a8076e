// distlab bench --explain: estimates what each algorithm costs on this machine, and which one the library
// takes.
#pragma once

#include <cstdint>
#include <string>

#include "dist/collectives/cost/cost_model_file.h"

#include "distlab/bench/options.h"

namespace distlab::bench {

// Returns true if DIST_TRANSPORT restricts ranks to TCP. Otherwise the ranks of one node map each other's
// memory.
bool only_tcp();

// Returns the figures of a model as two lines of text.
std::string figures_of(const dist::CostModel& model);

// Returns the table, the choice and its reason, for a machine with `cores` cores. Ends with a newline.
std::string explain(const Plan& plan, std::uint64_t bytes, const dist::KnownCosts& costs, int cores);

}  // namespace distlab::bench
