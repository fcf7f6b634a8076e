// The runner of a lab whose functions sum a tensor over all ranks in place; the other side of sums.h.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "dist/core/tensor.h"

#include "judge/runner.h"

namespace judge {

using SumFunction = std::function<void(dist::Tensor& data, std::int64_t segment)>;

// main() of such a runner. What comes back is what the caller sees in its own memory, whatever became of the
// tensor. `other` answers tasks whose "call" is none of these.
int serve_sums(const std::map<std::string, SumFunction>& calls,
               const std::function<Json(const Json& task)>& other = {});

}  // namespace judge
