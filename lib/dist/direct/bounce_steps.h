// BounceSteps: the steps in which ranks work on memory that they expose to each other (round.h).
//
// If all of the memory is mapped, there is one step. Memory that is not mapped passes through bounce buffers:
// in each step its owner copies one buffer's elements in, the others work on them there, and where they
// wrote, the owner copies them out again. So a tensor of any size needs two bounce buffers, which stay in the
// cache. The next buffer is filled while the others work on this one; a buffer is filled again when they are
// done with it.
// What only the owner itself works on (its part of a list, or its share) is not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dist/core/view.h"
#include "dist/direct/round.h"

namespace dist {

// Small enough to stay in the cache. Each rank has its own for each group that needs them.
namespace direct {
inline constexpr std::size_t bounce_bytes = std::size_t{512} << 10;
inline constexpr std::size_t bounce_count = 2;
}  // namespace direct

// Rank `rank`'s share when n ranks divide the work on `all`: whole cache lines, so that no two ranks write to
// one.
TensorView share_of(const TensorView& all, int rank, int n);

struct BouncePlan {
  std::span<const TensorView> mine;  // what this rank exposed and the others use, if anything
  int parts = 1;                     // the parts of each rank that exposed something
  std::int64_t longest = 0;          // elements of the largest part that this rank uses, or others use of it
  bool in_steps = false;             // whether this rank, or one that it reads from, published bounce buffers
  bool by_shares = false;            // every rank works on a share of each step
  bool written = false;              // the others write to what this rank exposed
};

// The steps of one rank in one round, after its notice was posted. All ranks take the same steps; those that
// need fewer stop earlier. Then Round::finish() must be called.
class BounceSteps {
 public:
  BounceSteps(Round& round, const BouncePlan& plan);
  // Goes on to the next step, or to the first; false when there are no more. Views that were returned are
  // valid until then. Throws the same errors as Round::finish().
  bool next();

  TensorView slice(const TensorView& part) const { return slice(part, step_); }  // this step's elements
  // This step's elements of a part of another rank, which has `count` elements in all: waits for them. Throws
  // the same errors as Round::of().
  TensorView of(int rank, std::int64_t count, int part = 0);

 private:
  TensorView slice(const TensorView& part, std::int64_t step) const;
  std::byte* place(std::byte* buffers, std::int64_t step, int part) const;
  template <class Copy>
  void for_each_piece(std::int64_t step, const Copy& copy);
  void fill(std::int64_t step);
  void take_back(std::int64_t step);

  Round& round_;
  const BouncePlan plan_;
  const std::size_t room_;  // bytes of one part in a buffer
  std::int64_t steps_ = 1;
  std::int64_t step_ = -1;
  bool fills_ = false;
};

}  // namespace dist
