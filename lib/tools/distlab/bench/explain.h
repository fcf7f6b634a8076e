// distlab bench --explain: what each algorithm would cost on this machine, and which the library would take.
#pragma once

#include <cstdint>
#include <string>

#include "dist/collectives/cost_model.h"

#include "distlab/bench/options.h"

namespace distlab::bench {

// Ranks of one host map each other's memory, unless DIST_TRANSPORT tells them to use TCP alone.
bool only_tcp();

// A cost model, and where it comes from.
struct KnownCosts {
  dist::CostModel model;
  std::string source;  // one line
};
// As --calibrate has saved it, otherwise round figures. Error{invalid_argument} when the file makes no sense.
KnownCosts known_costs();

// Its figures in words, two lines.
std::string figures_of(const dist::CostModel& model);

// The table, the choice and its reason; ends with a newline.
std::string explain(const Plan& plan, std::uint64_t bytes, const KnownCosts& costs);

}  // namespace distlab::bench
