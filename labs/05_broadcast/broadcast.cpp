// Lab 05: write these functions. README.md tells the story, broadcast.h is the
// contract.
//
//   ./distlab run 5      see what your code does
//   ./distlab grade 5    is it right, and if not, why?
//   ./distlab hint 5     a nudge
#include "broadcast.h"

#include "dist/core/todo.h"

namespace lab {

using dist::ProcessGroup, dist::Tensor;

// Useful in all parts: my group rank is dist::get_rank(group), n is
// dist::get_world_size(group), and (the 0 is not looked at: .group_dst counts)
//   dist::send(t, 0, {.group = group, .group_dst = peer});

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  // TODO: the root sends to everybody else; everybody else receives.
  DIST_TODO("lab 05, part 1: the root sends to every other rank");
}

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  // TODO: number the ranks from the root on. From whom do I get the data?
  // TODO: to whom do I pass it on? Whom first?
  DIST_TODO("lab 05, part 2: along the binomial tree");
}

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  // TODO: who is before me, who after me? Who has nobody there?
  // TODO: receive segment by segment (data.view({-1}).narrow(start, length)),
  // and pass each on without waiting for it to leave.
  // TODO: wait for what is still leaving.
  DIST_TODO("lab 05, part 3: along the chain, in segments");
}

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  // TODO: a group of trainers[0] and the servers. Who calls new_group, and who
  // goes on after it?
  // TODO: fill a bucket; pack, broadcast, unpack; the next one.
  DIST_TODO("lab 05, part 4: the new weights to the servers, bucket by bucket");
}

}  // namespace lab
