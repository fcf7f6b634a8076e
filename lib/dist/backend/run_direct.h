// Runs a collective on ranks that reach each other's memory: the host's, or their devices'.
#pragma once

#include <type_traits>
#include <vector>

#include "dist/backend/operation.h"
#include "dist/collectives/algorithms.h"
#include "dist/core/kernels.h"
#include "dist/core/view_list.h"
#include "dist/direct/peer_memory.h"

namespace dist {

// When the other ranks read or write a tensor in place, where rounds have no bounce buffers. everything:
// always, and all tensors of the operation.
enum class Exposed { never, when_long, always, everything };

// The views of a list of tensors. Tensors that the others are to reach in place, and that are not mapped, are
// replaced by a copy.
template <class Call, class Peers>
class DirectViews {
 public:
  DirectViews(const Peers& peers, const TensorList& tensors, Exposed exposed)
      : tensors_(tensors), views_(tensors.size()) {
    for (std::size_t i = 0; i < tensors.size(); ++i) views_.set(i, tensors[i]);
    if constexpr (!Call::has_bounce_buffers) {
      const bool is_short = Call::Round::fits(total_bytes(views_), tensors.size());
      if (exposed == Exposed::never || (is_short && exposed == Exposed::when_long)) return;
      for (std::size_t i = 0; i < tensors.size(); ++i)
        if (!peers.maps(views_[i])) lend(i);
    }
  }
  operator std::span<const TensorView>() const { return views_; }
  TensorView first() const {
    if (views_.size() == 0) return {};
    if constexpr (Call::has_bounce_buffers) return tensors_[0];  // does not wait for what was just written
    return views_[0];
  }
  void copy_back() {
    if constexpr (!Call::has_bounce_buffers)
      for (const Lent& place : lent_) copy(place.users, place.copy.flat());
  }

 private:
  // A copy of memory that the other ranks do not map, for the duration of one operation.
  struct Lent {
    TensorView users;
    Tensor copy;
  };
  void lend(std::size_t i) {
    const TensorView users = views_[i];
    Lent& place = lent_.emplace_back(Lent{users, empty({users.count}, users.dtype, users.device)});
    views_.set(i, place.copy.flat());
    copy(views_[i], users);
  }
  struct Nothing {};
  const TensorList& tensors_;
  ViewList views_;
  [[no_unique_address]] std::conditional_t<Call::has_bounce_buffers, Nothing, std::vector<Lent>> lent_;
};

// For every operation but premul_sum. `Call`: used like DirectCall (direct/algorithms.h). `exposed`: for the
// tensor that an all_reduce, a broadcast or a reduce changes, unless it is everything. Throws the same errors
// as the transport.
template <class Peers, class Call>
void run_direct(Peers& peers, const Operation& operation,
                void (*algorithm)(const Call& call, const CollectiveArgs& args), const CallLabel& label,
                Exposed exposed = Exposed::when_long) {
  using Views = DirectViews<Call, Peers>;
  const bool changes_one = operation.kind == OpKind::all_reduce || operation.kind == OpKind::broadcast ||
                           operation.kind == OpKind::reduce;
  const RoundTerms terms{operation.opcode()};
  const bool all = exposed == Exposed::everything;
  const Views ins(peers, operation.inputs, all ? exposed : Exposed::when_long);
  Views outs(peers, operation.outputs, changes_one || all ? exposed : Exposed::never);
  algorithm({peers, terms, label}, {.in = ins.first(),
                                    .out = outs.first(),
                                    .ins = ins,
                                    .outs = outs,
                                    .op = operation.op,
                                    .root = operation.root});
  outs.copy_back();
}

}  // namespace dist
