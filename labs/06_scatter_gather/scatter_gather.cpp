// Lab 06: write these functions. README.md tells the story, scatter_gather.h is
// the contract.
//
//   ./distlab run 6      see what your code does
//   ./distlab grade 6    is it right, and if not, why?
//   ./distlab hint 6     a nudge
#include "scatter_gather.h"

#include "dist/core/todo.h"

namespace lab {

using dist::Tensor;

// Useful in all parts: my rank is dist::get_rank(), n is dist::get_world_size(),
// and   dist::send(t, peer);    dist::recv(t, peer);

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  // TODO: the root sends each other rank its share, and what does it do with
  // its own?
  // TODO: everybody else receives one share. Where to?
  DIST_TODO("lab 06, part 1: the root deals out the list");
}

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  // TODO: the root receives from each other rank, into that rank's place.
  // TODO: everybody else sends.
  DIST_TODO("lab 06, part 2: the root collects the list");
}

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  // TODO: where does the part of a rank begin, and how many rows has it? (One
  // function, for every rank.)
  // TODO: the root tells how many rows there are, then sends the parts.
  // TODO: everybody else learns that, makes a tensor of the right size,
  // receives.
  DIST_TODO("lab 06, part 3: uneven parts");
}

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  // TODO: number the ranks from the root on. Who is above me? How many places
  // are in my subtree?
  // TODO: receive the shares of the whole subtree (the root has them: but in
  // which order?).
  // TODO: send each child the shares of its subtree. Which child first? And
  // keep my own share.
  DIST_TODO("lab 06, part 4: along the binomial tree");
}

}  // namespace lab
