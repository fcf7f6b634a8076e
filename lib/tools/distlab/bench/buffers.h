// The memory that the calls work on.
#pragma once

#include <memory>
#include <vector>

#include "distlab/bench/question.h"

namespace distlab::bench {

// Zeros, so that sums stay sums however often they are taken; each page is there before the first call.
class Memory {
 public:
  // `foreign`: from malloc, where peers cannot map it; on the CPU.
  Memory(std::size_t bytes, dist::DType dtype, bool foreign, dist::Device device);
  dist::Tensor part(std::int64_t first, std::int64_t count) const { return all_.narrow(first, count); }
  std::int64_t elements() const { return all_.numel(); }
  void clear() { all_.zero_(); }

 private:
  std::unique_ptr<void, void (*)(void*)> malloced_;
  dist::Tensor all_;
};

// The arguments of one call, as the collective takes them; what it does not take is undefined or empty.
struct Slot {
  dist::Tensor in, out;
  std::vector<dist::Tensor> list;  // the root's, of scatter (parts of `in`) or gather (parts of `out`)
};

// A call's buffers, many times, each on cache lines of its own.
std::vector<Slot> make_slots(const Question& question, Form form, const Memory& in, const Memory& out,
                             std::size_t most);

// Bytes of each Memory for calls of up to `largest` bytes a rank: enough to rotate through more than the last
// cache holds, with at most `slots` calls.
std::size_t bytes_to_rotate(std::size_t largest, std::size_t slots);

}  // namespace distlab::bench
