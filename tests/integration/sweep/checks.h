// Every operation of the API against the plain reference, whatever backend carries it out.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/group/process_group.h"

namespace dist::sweep {

// Every operation x sizes (elements per rank) x dtypes x ops, exact: == on every element. All ranks of
// `with.group` call it; empty: the default group. With `with.async_op` each Work is waited for. Throws
// std::runtime_error for the first wrong result.
void check_all(const Options& with, const std::vector<std::int64_t>& sizes);

}  // namespace dist::sweep
