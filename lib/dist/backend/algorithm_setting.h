// DIST_ALGO: which algorithms the ranks use if the call names none.
#pragma once

#include <array>
#include <string_view>

#include "dist/collectives/algorithms.h"
#include "dist/core/op_kind.h"

namespace dist {

// By OpKind; null: nothing is said about it. `dist_algo`: "all_reduce:ring,broadcast:chain" (underscores may
// be left out); empty for none. Error{invalid_argument} quotes the part that is wrong and lists what exists.
std::array<const AlgorithmEntry*, op_kind_count> algorithms_named(std::string_view dist_algo);

}  // namespace dist
