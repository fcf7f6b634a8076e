#include "dist/backend/run_direct.h"

#include <vector>

#include "dist/core/kernels.h"
#include "dist/core/view_list.h"
#include "dist/transport/opcode.h"

namespace dist {
namespace {

// A copy of memory that others do not map, for the time of one operation.
struct Lent {
  TensorView users;
  Tensor copy;
};

// The views of a list of tensors. Where the others are to read or write them in place, those that are not
// mapped are replaced by a copy.
class Views {
 public:
  Views(const PeerMemory& peers, const TensorList& tensors, bool shared) : views_(tensors.size()) {
    for (std::size_t i = 0; i < tensors.size(); ++i) views_.set(i, tensors[i]);
    if (!shared || peers.size() == 1 || Round::fits(total_bytes(views_), tensors.size())) return;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (!peers.maps(views_[i])) lend(i);
  }
  operator std::span<const TensorView>() const { return views_; }
  void copy_back() {
    for (const Lent& place : lent_) copy(place.users, place.copy.flat());
  }

 private:
  void lend(std::size_t i) {
    const TensorView users = views_[i];
    Lent& place = lent_.emplace_back(Lent{users, empty({users.count}, users.dtype)});
    views_.set(i, place.copy.flat());
    copy(views_[i], users);
  }
  ViewList views_;
  std::vector<Lent> lent_;
};

RoundTerms terms_of(const Operation& operation) {
  const auto root = static_cast<std::uint32_t>(operation.root + 1);
  return {opcode_of(operation.kind, operation.dtype()),
          root << 8 | static_cast<std::uint32_t>(operation.op.kind())};
}

}  // namespace

void run_direct(PeerMemory& peers, const Operation& operation, DirectFunction algorithm,
                const RoundLabel& label) {
  const bool changes_one = operation.kind == OpKind::all_reduce || operation.kind == OpKind::broadcast ||
                           operation.kind == OpKind::reduce;
  const Views ins(peers, operation.inputs, true);
  Views outs(peers, operation.outputs, changes_one);
  const auto first = [](std::span<const TensorView> views) {
    return views.empty() ? TensorView{} : views[0];
  };
  const std::span<const TensorView> sources = ins, targets = outs;
  algorithm({peers, terms_of(operation), label}, {.in = first(sources),
                                                  .out = first(targets),
                                                  .ins = sources,
                                                  .outs = targets,
                                                  .op = operation.op,
                                                  .root = operation.root});
  outs.copy_back();
}

}  // namespace dist
