// A random order of 0 ... n-1 from a seed, exactly the one that PyTorch gives.
#pragma once

#include <cstdint>
#include <vector>

namespace dist::data {

// torch.randperm(n, generator=g) with g.manual_seed(seed), on the CPU. From 2^32 / 20 on (about 214 million)
// PyTorch draws differently: throws Error{unsupported}.
std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed);

}  // namespace dist::data
