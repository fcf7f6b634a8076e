// distlab bench --explain: what each algorithm would cost on this machine, and which the library would take.
#pragma once

#include <cstdint>
#include <string>

#include "dist/collectives/cost_model_file.h"

#include "distlab/bench/options.h"

namespace distlab::bench {

// Ranks of one host map each other's memory, unless DIST_TRANSPORT tells them to use TCP alone.
bool only_tcp();

// A model's figures in words, two lines.
std::string figures_of(const dist::CostModel& model);

// The table, the choice and its reason, for a machine of so many cores; ends with a newline.
std::string explain(const Plan& plan, std::uint64_t bytes, const dist::KnownCosts& costs, int cores);

}  // namespace distlab::bench
