// The failures of all nodes' ranks, kept in the store so that every node can report the root cause.
#pragma once

#include <string>
#include <vector>

#include "dist/launch/root_cause.h"
#include "dist/store/store.h"

namespace distrun {

struct NodeFailure {
  int node = 0;
  dist::RankFailure failure;  // `when` gives the order only, because nodes have different clocks
};

// Adds a failure to those below `prefix`; the first 32 are kept. Throws what the store throws; so does
// published().
void publish(dist::Store& store, const std::string& prefix, const NodeFailure& failure);

// Returns all of them, in the order in which they were published. When the root cause names a rank that is
// not among them, another node is probably about to publish it: then this blocks up to a second.
std::vector<NodeFailure> published(dist::Store& store, const std::string& prefix);

// Returns the index of the root cause. `failures` must not be empty.
std::size_t cause_of(const std::vector<NodeFailure>& failures);

// The message in a file such as torch's @record, or a distlab program that an uncaught error ends, writes to
// TORCHELASTIC_ERROR_FILE: {"message": {"message": "..."}}, or {"message": "..."}. Empty: there is none.
std::string error_in(const std::string& file);

}  // namespace distrun
