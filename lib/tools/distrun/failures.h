// The failures of all nodes' ranks in the store, so that every node can say which one the others follow from.
#pragma once

#include <string>
#include <vector>

#include "dist/launch/root_cause.h"
#include "dist/store/store.h"

namespace distrun {

struct NodeFailure {
  int node = 0;
  dist::RankFailure failure;  // `when` orders them, no more: machines have different clocks
};

// Adds one to those below `prefix`; the first 32 are kept. Throws what the store throws, as published() does.
void publish(dist::Store& store, const std::string& prefix, const NodeFailure& failure);

// All of them, in the order in which they were published. When the cause of the others names a rank that is
// not among them, another node is probably about to publish it: blocks up to a second for it.
std::vector<NodeFailure> published(dist::Store& store, const std::string& prefix);

// The index of the one that the others follow from; `failures` is not empty.
std::size_t cause_of(const std::vector<NodeFailure>& failures);

}  // namespace distrun
