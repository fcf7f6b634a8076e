#include "distlab/bench/buffers.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

#include "dist/core/fail.h"

namespace distlab::bench {
namespace {

constexpr std::size_t line_bytes = 64;

std::size_t whole_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

std::size_t last_cache_bytes() {
  constexpr std::size_t usual = std::size_t{32} << 20;  // if the system does not report it
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : usual;
}

}  // namespace

Memory::Memory(std::size_t bytes, dist::DType dtype, bool foreign, dist::Device device)
    : malloced_(nullptr, std::free) {
  const std::size_t rounded = whole_lines(std::max<std::size_t>(bytes, 1));
  const auto elements = static_cast<std::int64_t>(rounded / dist::size_of(dtype));
  if (foreign) {
    malloced_.reset(std::aligned_alloc(line_bytes, rounded));
    if (!malloced_)
      dist::fail(dist::Errc::resource, "{} bytes do not fit into memory; choose a smaller --max", rounded);
    all_ = dist::Tensor::from_blob(malloced_.get(), {elements}, dtype);
  } else {
    all_ = dist::empty({elements}, dtype, device);
  }
  clear();
}

std::vector<Slot> make_slots(const Question& question, Form form, const Memory& in, const Memory& out,
                             std::size_t most) {
  const Elements needed = elements(question.collective, question.count, question.ranks, question.is_root());
  // Every rank uses the root's sizes, so that all ranks have the same number of buffers.
  const Elements largest = elements(question.collective, question.count, question.ranks, true);
  const std::size_t size = dist::size_of(question.dtype);
  const auto longest = static_cast<std::size_t>(std::max({largest.in, largest.out, std::int64_t{1}}));
  const auto stride = static_cast<std::int64_t>(whole_lines(longest * size) / size);
  const std::int64_t slots = std::clamp<std::int64_t>(std::min(in.elements(), out.elements()) / stride, 1,
                                                      static_cast<std::int64_t>(most));
  const std::int64_t own_share = question.rank * question.count;
  std::vector<Slot> result(static_cast<std::size_t>(slots));
  std::int64_t first = 0;
  for (Slot& slot : result) {
    if (needed.in > 0) slot.in = in.part(first, needed.in);
    if (needed.out > 0) slot.out = out.part(first, needed.out);
    if (form == Form::in_place && needed.in > needed.out && needed.out > 0)
      slot.out = slot.in.narrow(own_share, question.count);
    else if (form == Form::in_place && needed.out > needed.in && needed.in > 0)
      slot.in = slot.out.narrow(own_share, question.count);
    const bool is_scatter = question.collective == Collective::scatter;
    if (question.is_root() && (is_scatter || question.collective == Collective::gather))
      slot.list = (is_scatter ? slot.in : slot.out).chunk(question.ranks);
    first += stride;
  }
  return result;
}

std::size_t bytes_to_rotate(std::size_t largest, std::size_t slots) {
  const std::size_t enough = std::max(2 * last_cache_bytes(), largest);
  return std::min(enough, whole_lines(largest) * slots);
}

}  // namespace distlab::bench
