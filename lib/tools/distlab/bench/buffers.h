// The memory for the measured calls.
#pragma once

#include <memory>
#include <vector>

#include "distlab/bench/question.h"

namespace distlab::bench {

// The memory contains zeros, so that repeated sums stay finite. Each page is touched before the first call.
class Memory {
 public:
  // `foreign`: the memory is from malloc, so that peers cannot map it; only on the CPU.
  Memory(std::size_t bytes, dist::DType dtype, bool foreign, dist::Device device);
  dist::Tensor part(std::int64_t first, std::int64_t count) const { return all_.narrow(first, count); }
  std::int64_t elements() const { return all_.numel(); }
  void clear() { all_.zero_(); }

 private:
  std::unique_ptr<void, void (*)(void*)> malloced_;
  dist::Tensor all_;
};

// The arguments of one call. Those that the collective does not take are undefined or empty.
struct Slot {
  dist::Tensor in, out;
  std::vector<dist::Tensor>
      list;  // on the root: the list of scatter (parts of `in`) or gather (parts of `out`)
};

// Makes the buffers of at most `most` calls, each on cache lines of its own.
std::vector<Slot> make_slots(const Question& question, Form form, const Memory& in, const Memory& out,
                             std::size_t most);

// Returns the bytes of each Memory for calls of up to `largest` bytes per rank: enough to rotate through more
// than the last cache, with at most `slots` calls.
std::size_t bytes_to_rotate(std::size_t largest, std::size_t slots);

}  // namespace distlab::bench
