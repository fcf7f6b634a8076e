// OneTree is one rank's part in one of the two trees: post() starts the messages of one colour, wait()
// completes them, and reduce_what_came() adds up what arrived in the phase before. run_phase() does one phase
// of both trees; the all-reduce runs four phases per step.
#include "dist/collectives/double_binary_tree.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "dist/collectives/segments.h"
#include "dist/collectives/trees.h"
#include "dist/core/kernels.h"

namespace dist {
namespace {

enum class Direction { up, down };

// One rank's part in one tree, phase by phase. With L = ceil(log2 n), a rank at depth d sends segment s up in
// step s + L - d, and down in step s + L + d, one step after the segment arrived.
class OneTree {
 public:
  OneTree(Transport& net, const Segments& segments, ReduceOp op, ColouredNode node)
      : net_(net), segments_(segments), op_(op), node_(std::move(node)), levels_(ceil_log2(net.size())) {
    for (std::size_t c = 0; c < node_.place.children.size(); ++c)
      inboxes_.push_back(net_.scratch(segments_[0]));
  }

  int steps() const { return segments_.count() + 2 * levels_; }

  // Posts the messages over the edges of this colour.
  void post(int step, Direction way, int colour) {
    const int leaving =
        way == Direction::up ? step - levels_ + node_.place.depth : step - levels_ - node_.place.depth;
    const bool to_parent = has_parent() && node_.to_parent == colour;
    if (way == Direction::up && to_parent) send(leaving, node_.place.parent);
    if (way == Direction::down && to_parent && exists(leaving + 1))
      got_ = net_.irecv(segments_[leaving + 1], node_.place.parent), receives_ = true;
    for (std::size_t c = 0; c < inboxes_.size(); ++c) {
      if (node_.to_children[c] != colour) continue;
      if (way == Direction::down) send(leaving, node_.place.children[c]);
      if (way == Direction::up) receive_sum(leaving + 1, c);
    }
  }

  // Waits until what was posted has left and arrived. The next call of reduce_what_came() adds up what
  // arrived.
  void wait() {
    if (std::exchange(receives_, false)) got_.wait();
    if (std::exchange(sends_, false)) put_.wait();
    came_ = std::exchange(arriving_, Sum{});
  }

  void reduce_what_came() {
    const Sum sum = std::exchange(came_, Sum{});
    if (sum.is_there) reduce(sum.mine, sum.theirs, op_);
  }

 private:
  struct Sum {
    bool is_there = false;
    TensorView mine, theirs;
  };

  bool exists(int segment) const { return segment >= 0 && segment < segments_.count(); }
  bool has_parent() const { return node_.place.parent != no_rank; }
  void send(int segment, int rank) {
    if (!exists(segment)) return;
    put_ = net_.isend(segments_[segment], rank);
    sends_ = true;
  }
  void receive_sum(int segment, std::size_t child) {
    if (!exists(segment)) return;
    const TensorView mine = segments_[segment];
    arriving_ = {true, mine, inboxes_[child].of(mine)};
    got_ = net_.irecv(arriving_.theirs, node_.place.children[child]);
    receives_ = true;
  }

  Transport& net_;
  const Segments segments_;
  const ReduceOp op_;
  const ColouredNode node_;
  const int levels_;
  std::vector<Scratch> inboxes_;  // one per child
  Request got_, put_;
  bool receives_ = false, sends_ = false;
  Sum arriving_, came_;
};

// While the messages of this phase are on their way, what arrived in the phase before is added up.
void run_phase(std::span<OneTree> trees, int step, Direction way, int colour) {
  for (OneTree& tree : trees) tree.post(step, way, colour);
  for (OneTree& tree : trees) tree.reduce_what_came();
  for (OneTree& tree : trees) tree.wait();
}

}  // namespace

void double_binary_tree_all_reduce(Transport& net, TensorView data, ReduceOp op, std::int64_t segment_bytes) {
  if (net.size() == 1) return;
  const std::array<ColouredNode, 2> nodes = coloured_pair(net.rank(), net.size());
  std::vector<OneTree> trees;
  trees.reserve(2);
  for (int tree : {0, 1})
    trees.emplace_back(net, Segments(chunk(data, tree, 2), segment_bytes), op,
                       nodes[static_cast<std::size_t>(tree)]);
  const int steps = std::max(trees[0].steps(), trees[1].steps());
  for (int step = 0; step < steps; ++step)
    for (Direction way : {Direction::up, Direction::down})
      for (int colour : {0, 1}) run_phase(trees, step, way, colour);
}

}  // namespace dist
