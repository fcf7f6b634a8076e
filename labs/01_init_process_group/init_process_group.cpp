// Lab 01: write these functions. README.md is the handout,
// init_process_group.h is the specification.
//
//   ./distlab run 1      runs the demonstration with your code
//   ./distlab grade 1    tests your code
//   ./distlab hint 1     prints a hint
#include "init_process_group.h"

#include "dist/core/fail.h"  // dist::fail(dist::Errc::timeout, "rank {} waited {} ms", rank, ms)
#include "dist/core/todo.h"
#include "dist/group/process_group.h"

namespace lab {

Place place_of(const std::vector<int>& processes_per_node, int node, int local_rank) {
  // TODO: reject a node or a local rank that does not exist:
  // fail(Errc::invalid_argument, ...).
  // TODO: count the processes on the nodes before this one, and on all nodes.
  DIST_TODO("lab 01, part 1: rank and world size from the node and the local rank");
}

std::vector<std::string> rendezvous(const std::shared_ptr<dist::Store>& store, const std::string& job,
                                    const Place& place, const std::string& entry, dist::Timeout timeout) {
  // TODO: publish: set this rank's key.
  // TODO: wait for the keys of all ranks, with one deadline.
  // TODO: collect: get every rank's entry, in the order of the ranks.
  // TODO: if the deadline has passed: find out which ranks are missing, and
  // throw.
  DIST_TODO("lab 01, part 2: publish this rank's entry, wait for all ranks, collect their entries");
}

std::string describe(const Process& process) {
  // TODO: which GPU of its host does this process use? Which of its two ranks
  // determines it?
  DIST_TODO("lab 01, part 3: a line about this process");
}

dist::Tensor pack(const std::string& text, std::int64_t size) {
  // TODO: how many bytes of the text fit, without half a character at the end?
  // TODO: make a u8 tensor with these bytes, followed by zeros.
  DIST_TODO("lab 01, part 4: a text as a tensor of a fixed size");
}

std::string unpack(const dist::Tensor& packed) {
  // TODO: the bytes before the first zero. There may be no zero.
  DIST_TODO("lab 01, part 4: the text in a tensor");
}

std::vector<std::string> exchange(const std::string& text, std::int64_t size) {
  // TODO: make one tensor for the text of each rank; call all_gather once; turn
  // the tensors into texts.
  DIST_TODO("lab 01, part 5: every rank's text on every rank");
}

}  // namespace lab
