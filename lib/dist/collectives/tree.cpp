#include "dist/collectives/tree.h"

#include <vector>

#include "dist/collectives/segments.h"
#include "dist/collectives/trees.h"
#include "dist/core/kernels.h"

namespace dist {

namespace {

// One rank's part of the tree: sends segments up and down, and keeps track of what is in flight between.
class TreePipeline {
 public:
  TreePipeline(Transport& net, const Segments& segments, ReduceOp op)
      : net_(net), segments_(segments), op_(op), node_(binary_node(net.rank(), net.size())) {
    for (int child : node_.children) {
      inboxes_.push_back(net_.scratch(segments_[0]));
      arriving_.push_back(net_.irecv(inboxes_.back().all(), child));
    }
  }

  int depth() const { return node_.depth; }

  void reduce_up(int s) {
    const TensorView mine = segments_[s];
    for (std::size_t c = 0; c < node_.children.size(); ++c) {
      arriving_[c].wait();
      reduce(mine, inboxes_[c].of(mine), op_);
      if (s + 1 < segments_.count())
        arriving_[c] = net_.irecv(inboxes_[c].of(segments_[s + 1]), node_.children[c]);
    }
    if (node_.parent != no_rank) going_up_.push_back(net_.isend(mine, node_.parent));
  }

  void broadcast_down(int s) {
    const TensorView result = segments_[s];
    if (node_.parent != no_rank) {
      going_up_[s].wait();  // returns at once: the parent received it before it could answer
      net_.irecv(result, node_.parent).wait();
    }
    finish_sends_down();
    for (int child : node_.children) going_down_.push_back(net_.isend(result, child));
  }

  void finish_sends_down() {
    for (Request& put : going_down_) put.wait();
    going_down_.clear();
  }

 private:
  Transport& net_;
  const Segments segments_;
  const ReduceOp op_;
  const BinaryNode node_;
  std::vector<Scratch> inboxes_;  // one per child
  std::vector<Request> arriving_, going_up_, going_down_;
};

}  // namespace

// At depth d a segment comes back 2d steps after it went up: so the rank sends 2d segments up
// before it waits for the first to come down, and from then on one up and one down per step. Deeper ranks run
// ahead by more, so no rank waits for a segment that is held back by a wait of its own.
void tree_all_reduce(Transport& net, TensorView data, ReduceOp op, std::int64_t segment_bytes) {
  if (net.size() == 1) return;
  const Segments segments(data, segment_bytes);
  TreePipeline tree(net, segments, op);
  const int lag = 2 * tree.depth();
  for (int step = 0; step < segments.count() + lag; ++step) {
    if (step < segments.count()) tree.reduce_up(step);
    if (step >= lag) tree.broadcast_down(step - lag);
  }
  tree.finish_sends_down();
}

}  // namespace dist
