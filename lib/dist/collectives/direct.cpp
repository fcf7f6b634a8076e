#include "dist/collectives/direct.h"

#include "dist/collectives/direct_on_rounds.h"

namespace dist {

void one_shot_all_reduce(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::one_shot_all_reduce(call, args);
}

void two_shot_all_reduce(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::two_shot_all_reduce(call, args);
}

void direct_broadcast(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::direct_broadcast(call, args);
}

void direct_reduce(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::direct_reduce(call, args);
}

void direct_scatter(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::direct_scatter(call, args);
}

void direct_gather(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::direct_gather(call, args);
}

void direct_all_gather(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::direct_all_gather(call, args);
}

void direct_reduce_scatter(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::direct_reduce_scatter(call, args);
}

void direct_all_to_all(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::direct_all_to_all(call, args);
}

void direct_barrier(const DirectCall& call, const CollectiveArgs& args) {
  on_rounds::direct_barrier(call, args);
}

}  // namespace dist
