#include "dist/collectives/ring_segmented.h"

#include <algorithm>
#include <array>

#include "dist/collectives/chunks.h"
#include "dist/collectives/ring.h"
#include "dist/core/kernels.h"

namespace dist {
namespace {

// Turn q stands for segment q mod m of step q / m: a rank receives it in that turn, and what it receives in
// turn q is what it sends in turn q + m. The first (n-1) m turns are the reduce-scatter.
class SegmentedRing {
 public:
  SegmentedRing(Transport& net, TensorView data, ReduceOp op, int segments)
      : net_(net),
        op_(op),
        ring_(ring_of_all(net)),
        chunks_(data, ring_.size),
        segments_(segments),
        summed_((ring_.size - 1) * segments),
        under_way_(segments_under_way(segments)) {
    const TensorView longest = chunk(largest(chunks_), segments - 1, segments);
    for (Scratch& inbox : inboxes_) inbox = net_.scratch(longest);
  }

  void run() {
    const int turns = 2 * summed_, ahead = std::min(segments_, static_cast<int>(inboxes_.size()));
    for (int turn = 0; turn < ahead; ++turn) expect(turn);
    for (int turn = 0; turn < under_way_; ++turn) send(turn);
    for (int turn = 0; turn < turns; ++turn) {
      arriving_at(turn).wait();
      if (turn < summed_) reduce(received(turn), inbox(turn), op_);
      leaving_at(turn).wait();
      if (turn + under_way_ < turns) send(turn + under_way_);
      if (turn + ahead < turns) expect(turn + ahead);
    }
  }

 private:
  TensorView segment(int step, int turn) const {
    const TensorView whole = chunks_[mod(ring_.place - step, ring_.size)];
    return chunk(whole, turn % segments_, segments_);
  }
  TensorView sent(int turn) const { return segment(turn / segments_ + 1, turn); }
  TensorView received(int turn) const { return segment(turn / segments_ + 2, turn); }
  TensorView inbox(int turn) const { return inboxes_[static_cast<std::size_t>(turn % 2)].of(received(turn)); }
  Request& arriving_at(int turn) { return arriving_[static_cast<std::size_t>(turn % 2)]; }
  Request& leaving_at(int turn) { return leaving_[static_cast<std::size_t>(turn % under_way_)]; }

  void expect(int turn) {
    arriving_at(turn) = net_.irecv(turn < summed_ ? inbox(turn) : received(turn), ring_.previous);
  }
  void send(int turn) { leaving_at(turn) = net_.isend(sent(turn), ring_.next); }

  Transport& net_;
  const ReduceOp op_;
  const Ring ring_;
  const Chunks chunks_;
  const int segments_;
  const int summed_;     // the number of turns of the reduce-scatter
  const int under_way_;  // sends at once; at most segments_: the data of later ones is not there
  std::array<Scratch, 2> inboxes_;
  std::array<Request, 2> arriving_;
  std::array<Request, most_segments_under_way> leaving_;
};

}  // namespace

int segments_of_chunk(std::int64_t bytes, int n, std::int64_t segment_bytes) {
  const std::int64_t longest = (bytes + n - 1) / n;
  return static_cast<int>(std::max<std::int64_t>(1, (longest + segment_bytes - 1) / segment_bytes));
}

void ring_segmented_all_reduce(Transport& net, TensorView data, ReduceOp op, std::int64_t segment_bytes) {
  if (net.size() == 1) return;
  const int segments = segments_of_chunk(static_cast<std::int64_t>(data.bytes()), net.size(), segment_bytes);
  SegmentedRing(net, data, op, segments).run();
}

}  // namespace dist
