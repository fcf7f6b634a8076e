// Lab 05: write these functions. README.md is the handout, broadcast.h is the
// specification.
//
//   ./distlab run 5      runs the demonstration with your code
//   ./distlab grade 5    tests your code
//   ./distlab hint 5     prints a hint
#include "broadcast.h"

#include "dist/core/todo.h"

namespace lab {

using dist::ProcessGroup, dist::Tensor;

// Useful in all parts: my group rank is dist::get_rank(group), n is
// dist::get_world_size(group), and (the 0 is ignored, because of .group_dst)
//   dist::send(t, 0, {.group = group, .group_dst = peer});

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  // TODO: the root sends to every other rank; every other rank receives.
  DIST_TODO("lab 05, part 1: the root sends to every other rank");
}

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  // TODO: number the ranks from the root on. Which rank sends me the data?
  // TODO: to which ranks do I pass it on, and to which of them first?
  DIST_TODO("lab 05, part 2: along the binomial tree");
}

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  // TODO: which ranks are before and after me? Which rank has none there?
  // TODO: receive segment by segment (data.view({-1}).narrow(start, length)),
  // and pass each on without waiting for the send.
  // TODO: wait for the sends that are still under way.
  DIST_TODO("lab 05, part 3: along the chain, in segments");
}

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  // TODO: make a group of trainers[0] and the servers. Which ranks call
  // new_group, and which of them continue after it?
  // TODO: bucket by bucket: fill it, pack, broadcast, unpack.
  DIST_TODO("lab 05, part 4: the new weights to the servers, bucket by bucket");
}

}  // namespace lab
